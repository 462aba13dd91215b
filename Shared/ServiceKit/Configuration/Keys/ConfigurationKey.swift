/// A key together with the type that its value is read as: `configuration[EdgeKeys.listen]` is a `HostPort`.
///
/// A service declares a key once, as a property of its `ServiceKeys`; everything else is derived.
package struct ConfigurationKey<Value: Sendable>: Sendable {
    package private(set) var declaration: KeyDeclaration
    let read: @Sendable (ConfigurationValue?) -> Value?

    private init(
        _ name: String, _ kind: ValueKind, _ defaultValue: ConfigurationValue?, _ summary: String,
        read: @escaping @Sendable (ConfigurationValue?) -> Value?
    ) {
        declaration = KeyDeclaration(name, kind, default: defaultValue, summary)
        self.read = read
    }

    /// This key, as one whose new values a running program takes over. The part that reads the key names it
    /// in `ServiceContext.onChange`.
    package var live: Self { changed { $0.isLive = true } }

    /// This key, as one that has no meaning where the service runs beside others in one process.
    package var forOwnProcess: Self { changed { $0.isForOwnProcess = true } }

    /// This key, as one that leads to certificates. The part that reads them gives them to
    /// `CertificateReports`.
    package var certificates: Self { changed { $0.hasCertificates = true } }

    private func changed(_ change: (inout KeyDeclaration) -> Void) -> Self {
        var key = self
        change(&key.declaration)
        return key
    }
}

extension ConfigurationKey where Value == String {
    package static func string(_ name: String, default value: String, _ summary: String) -> Self {
        Self(name, .string, .string(value), summary) { if case .string(let text)? = $0 { text } else { nil } }
    }
}

extension ConfigurationKey where Value == String? {
    /// Declares a text that may stay unset.
    package static func optionalString(_ name: String, _ summary: String) -> Self {
        Self(name, .string, nil, summary) { if case .string(let text)? = $0 { text } else { .some(nil) } }
    }
}

extension ConfigurationKey where Value == String? {
    /// Declares the path of a file that the program reads at its start, and again when the file changes.
    package static func optionalFile(_ name: String, _ summary: String) -> Self {
        optionalString(name, summary).changed { $0.isFile = true }
    }
}

extension ConfigurationKey where Value == Secret? {
    /// Declares a secret. It has no default, and `RTM_…_FILE` names a file that holds it.
    package static func secret(_ name: String, _ summary: String) -> Self {
        Self(name, .secret, nil, summary) { if case .secret(let secret)? = $0 { secret } else { .some(nil) } }
    }
}

extension ConfigurationKey where Value == Int {
    package static func int(
        _ name: String, default value: Int, in range: ClosedRange<Int>, _ summary: String
    ) -> Self {
        Self(name, .int(range), .int(value), summary) {
            if case .int(let number)? = $0 { number } else { nil }
        }
    }

    /// Declares a number of bytes, written `32KiB`.
    package static func byteSize(
        _ name: String, default value: Int, in range: ClosedRange<Int>, _ summary: String
    ) -> Self {
        Self(name, .byteSize(range), .byteSize(value), summary) {
            if case .byteSize(let size)? = $0 { size } else { nil }
        }
    }
}

extension ConfigurationKey where Value == Bool {
    package static func bool(_ name: String, default value: Bool, _ summary: String) -> Self {
        Self(name, .bool, .bool(value), summary) { if case .bool(let value)? = $0 { value } else { nil } }
    }
}

extension ConfigurationKey where Value == Duration {
    package static func duration(
        _ name: String, default value: Duration, in range: ClosedRange<Duration>, _ summary: String
    ) -> Self {
        Self(name, .duration(range), .duration(value), summary) {
            if case .duration(let duration)? = $0 { duration } else { nil }
        }
    }
}

extension ConfigurationKey where Value == HostPort {
    package static func address(_ name: String, default value: HostPort, _ summary: String) -> Self {
        Self(name, .address, .address(value), summary) {
            if case .address(let address)? = $0 { address } else { nil }
        }
    }
}

extension ConfigurationKey where Value == HostPort? {
    /// Declares an address that may stay unset, such as that of a listener that is off by default.
    package static func optionalAddress(_ name: String, _ summary: String) -> Self {
        Self(name, .address, nil, summary) {
            if case .address(let address)? = $0 { address } else { .some(nil) }
        }
    }
}

extension ConfigurationKey where Value == [String] {
    /// Declares a list of texts: between commas, or as a YAML list.
    package static func list(
        _ name: String, default value: [String] = [], countMax: Int, _ summary: String
    ) -> Self {
        Self(name, .list(countMax: countMax), .list(value), summary) {
            if case .list(let elements)? = $0 { elements } else { nil }
        }
    }
}

extension ConfigurationKey where Value: RawRepresentable<String> & CaseIterable {
    /// Declares a choice between the cases of an enum, by raw value.
    package static func choice(_ name: String, default value: Value, _ summary: String) -> Self {
        Self(name, .choice(Value.allCases.map(\.rawValue)), .choice(value.rawValue), summary) {
            if case .choice(let text)? = $0 { Value(rawValue: text) } else { nil }
        }
    }
}

/// A type for one record of a list.
package protocol ConfigurationRecord: Sendable {
    /// The fields in the order in which the short form (`id:certificate`) gives them.
    static var fields: [RecordField] { get }

    /// Returns nil for a record that doesn't fit `fields`, which never happens after they were checked.
    init?(_ record: ConfigurationValue.Record)

    /// The fields that are set; the inverse of `init`.
    var record: ConfigurationValue.Record { get }
}

extension ConfigurationKey {
    /// Declares a list of records: a YAML list of maps, or `a:b,c:d` in the order of the fields.
    package static func records<Row: ConfigurationRecord>(
        _ name: String, default value: [Row] = [], countMax: Int, _ summary: String
    ) -> Self where Value == [Row] {
        Self(
            name, .records(Row.fields, countMax: countMax), .records(value.map(\.record)), summary
        ) {
            if case .records(let records)? = $0 { records.compactMap(Row.init) } else { nil }
        }
    }
}
