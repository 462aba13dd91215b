import RTMServiceKit

/// `rtm-gateway key APP/SCOPES`: makes an API key.
enum KeyCommand {
    static let create = ProgramCommand(
        "key", argument: "APP/SCOPES",
        options: [.init("channels", value: "PREFIX"), .init("expires", value: "YYYY-MM-DD")],
        "Makes an API key, and the entry of gateway.keys that lets it in; APP may be *, SCOPES are joined by +."
    ) { call in
        let words = call.argument.split(separator: "/", omittingEmptySubsequences: false)
        guard words.count == 2, !words[0].isEmpty, let scopes = APIScope.set(String(words[1])) else {
            let all = APIScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServiceFailure.configuration(
                "\"\(call.argument)\" is not APP/SCOPES, with scopes of \(all), such as dev/read+publish")
        }
        let key = APIKey.random()
        var record = APIKeyRecord(
            id: key.id, hash: key.hash, app: String(words[0]), scopes: scopes,
            channels: call.options["channels"])
        if let day = call.options["expires"] {
            guard let date = APIKeyRecord.date(day) else {
                throw ServiceFailure.configuration("\"\(day)\" is not a day such as 2027-01-31")
            }
            record.expires = date
        }
        return .init(text(key, record))
    }

    private static func text(_ key: APIKey, _ record: APIKeyRecord) -> String {
        let fields = record.record
        var values = APIKeyRecord.fields.map { field in
            switch fields[field.name] {
            case .string(let text)?: text
            case .secret(let secret)?: secret.revealed
            default: ""
            }
        }
        let entry = zip(APIKeyRecord.fields, values).filter { !$1.isEmpty }.map { "\($0.name): \"\($1)\"" }
        while values.last == "" { values.removeLast() }
        return """
            The key, which is shown only now:
                \(key.text)

            The entry of the configuration:
                gateway:
                  keys:
                    - {\(entry.joined(separator: ", "))}
            or a line of the file that RTM_GATEWAY_KEYS_FILE names:
                \(values.joined(separator: ":"))

            """
    }
}
