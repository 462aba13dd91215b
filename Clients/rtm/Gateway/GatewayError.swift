import RTMClient

/// What a gateway refused, or why it gave no answer. Its codes are those of the system, and 0 for an error of
/// HTTP alone, which has only its name.
struct GatewayError: CommandFailure, Sendable, Hashable {
    /// The status of the answer; nil without one.
    var status: Int?
    var code = 0
    var name: String
    /// One sentence for a person.
    var reason: String
    /// The command that failed.
    var operation: String
    /// What the answer says of the limit that refused the call.
    var limit: JSON?
    var retryAfter: Duration?
    /// What a call that compared something found instead.
    var conflict: JSON?

    /// Whether the call had no effect and the gateway has said when to come back.
    var cameTooEarly: Bool { status == 429 && retryAfter != nil }

    /// Whether the same call may succeed without anybody changing anything.
    var mayPass: Bool { status.map { $0 == 429 || $0 >= 500 } ?? true }
}

extension GatewayError {
    /// Reads the body of an answer that isn't a success.
    init(status: Int, body: String, retryAfter: String?, operation: String) {
        guard let error = JSON(parsing: body)?["error"], let name = error["name"]?.text else {
            // It comes from a proxy, or from a server that isn't a gateway.
            self.init(
                status: status, name: "http",
                reason: "the answer has the status \(status) and isn't a gateway's; is the address right?",
                operation: operation)
            self.retryAfter = retryAfter.flatMap { Int64($0) }.map { .seconds($0) }
            return
        }
        self.init(
            status: status, code: error["code"]?.int ?? 0, name: name, reason: error["reason"]?.text ?? "",
            operation: operation, limit: error["limit"],
            retryAfter: error["retryAfter"]?.double.map(Self.pause),
            conflict: error["conflict"])
    }

    /// A day at most: the answer may have any number.
    private static func pause(_ seconds: Double) -> Duration {
        .milliseconds(Int64((min(max(seconds, 0), 86_400) * 1_000).rounded(.up)))
    }

    var json: JSON {
        var fields: [JSON.Field] = [
            .init(name: "code", value: .number(code)), .init(name: "name", value: .string(name)),
            .init(name: "operation", value: .string(operation)),
            .init(name: "reason", value: .string(reason)),
        ]
        if let status { fields.append(.init(name: "status", value: .number(status))) }
        if let limit { fields.append(.init(name: "limit", value: limit)) }
        if let retryAfter {
            let milliseconds = JSON.number(retryAfter.milliseconds, decimals: 0)
            fields.append(.init(name: "retryAfterMilliseconds", value: milliseconds))
        }
        if let conflict { fields.append(.init(name: "conflict", value: conflict)) }
        return ["error": .object(fields)]
    }
}

extension GatewayError {
    var description: String {
        let number = code == 0 ? status.map { " \($0)" } ?? "" : " \(code)"
        var text = "\(operation): \(reason) (\(name)\(number))"
        if let limit, let name = limit["name"]?.text, let value = limit["value"]?.int {
            text += "; \(name) is \(value)"
        }
        if let retryAfter { text += "; try again in \(retryAfter.text)" }
        return text
    }
}
