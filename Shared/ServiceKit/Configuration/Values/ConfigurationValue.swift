/// One value of the configuration after it was read and checked.
package enum ConfigurationValue: Sendable, Hashable {
    case string(String)
    case secret(Secret)
    case int(Int)
    case bool(Bool)
    case duration(Duration)
    case byteSize(Int)
    case address(HostPort)
    case list([String])
    case choice(String)
    case records([Record])

    /// The fields of one record that are set, by name.
    package typealias Record = [String: ConfigurationValue]
}

/// Why a text is not a value, as a clause that continues a sentence which begins with the value ("… is not a
/// duration").
package struct ValueRefusal: Error, Hashable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// One field of the records in a list of records.
package struct RecordField: Sendable, Hashable {
    package let name: String
    /// A kind with a single value: neither a list nor records.
    package let kind: ValueKind
    package let isRequired: Bool
    /// Whether the text is the path of a file whose content counts as part of the configuration.
    let isFile: Bool

    package init(_ name: String, _ kind: ValueKind, isRequired: Bool = false, isFile: Bool = false) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.isFile = isFile
    }
}

/// What a key holds, and which values of it are allowed.
package indirect enum ValueKind: Sendable, Hashable {
    case string
    /// A string that is masked wherever the configuration is shown.
    case secret
    case int(ClosedRange<Int>)
    case bool
    case duration(ClosedRange<Duration>)
    case byteSize(ClosedRange<Int>)
    case address
    case list(countMax: Int)
    case choice([String])
    case records([RecordField], countMax: Int)

    /// Limit: bytes of a single text.
    static let textBytesMax = 64 * 1024

    /// Whether a value of this kind may hold something that must not be shown.
    package var isSecret: Bool {
        switch self {
        case .secret: true
        case .records(let fields, _): fields.contains { $0.kind.isSecret }
        default: false
        }
    }
}
