package import Foundation

/// What the configuration of a gateway has of a key: everything but its secret.
package struct APIKeyEntry {
    /// Each field by its name, in the order in which a line has them. An empty one isn't set.
    private let fields: [(name: String, value: String)]

    /// - Parameters:
    ///   - channels: nil for a key that is for all channels and for users.
    ///   - expires: the day from which on the key is refused; nil for one that doesn't expire.
    package init(of key: APIKey, app: String, scopes: Set<APIScope>, channels: String?, expires: Date?) {
        fields = [
            ("id", key.id), ("hash", key.hash), ("app", app), ("scopes", APIScope.text(scopes)),
            ("channels", channels ?? ""), ("expires", expires.map(Self.day) ?? ""),
        ]
    }

    /// An element of the list `gateway.keys` in YAML.
    package var yaml: String {
        let set = fields.filter { !$0.value.isEmpty }.map { "\($0.name): \"\($0.value)\"" }
        return "{\(set.joined(separator: ", "))}"
    }

    /// A line of the file that `RTM_GATEWAY_KEYS_FILE` names.
    package var line: String {
        var values = fields.map(\.value)
        while values.last == "" { values.removeLast() }
        return values.joined(separator: ":")
    }

    private static var style: Date.ISO8601FormatStyle { .iso8601.year().month().day() }

    package static func day(_ date: Date) -> String { style.format(date) }

    /// The beginning of a day, in UTC; nil if the text is none.
    package static func date(_ text: String) -> Date? {
        guard let date = try? style.parse(text), style.format(date) == text else { return nil }
        return date
    }
}
