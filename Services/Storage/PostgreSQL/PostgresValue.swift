/// A parameter of a statement. It travels in PostgreSQL's binary format: no text is parsed, and nothing
/// has to be quoted.
enum PostgresValue: Sendable {
    case integer(Int64?)
    case text(String?)
    case bytes([UInt8]?)
    case integers([Int64?])
    case texts([String?])
    case blobs([[UInt8]?])

    /// 64 bits without a sign lie in `int8` by their bits.
    static func number(_ value: UInt64?) -> Self { .integer(value.map { Int64(bitPattern: $0) }) }
    static func numbers(_ values: [UInt64?]) -> Self {
        .integers(values.map { $0.map { Int64(bitPattern: $0) } })
    }
}

extension PostgresValue {
    /// PostgreSQL's number of the type.
    var type: UInt32 {
        switch self {
        case .integer: Self.integer
        case .text: Self.text
        case .bytes: Self.bytes
        case .integers: 1016
        case .texts: 1009
        case .blobs: 1001
        }
    }

    private static let integer: UInt32 = 20
    private static let text: UInt32 = 25
    private static let bytes: UInt32 = 17

    /// Appends the value. Returns false, and appends nothing, if it is NULL.
    ///
    /// A text may not have the character U+0000, which PostgreSQL refuses (22021).
    func append(to buffer: inout [UInt8]) -> Bool {
        switch self {
        case .integer(let value):
            guard let value else { return false }
            Self.append(UInt64(bitPattern: value), to: &buffer)
        case .text(let value):
            guard let value else { return false }
            buffer.append(contentsOf: value.utf8)
        case .bytes(let value):
            guard let value else { return false }
            buffer.append(contentsOf: value)
        case .integers(let values):
            Self.append(values, of: Self.integer, to: &buffer) { value, buffer in
                Self.append(UInt32(8), to: &buffer)
                Self.append(UInt64(bitPattern: value), to: &buffer)
            }
        case .texts(let values):
            Self.append(values, of: Self.text, to: &buffer) { value, buffer in
                Self.append(UInt32(value.utf8.count), to: &buffer)
                buffer.append(contentsOf: value.utf8)
            }
        case .blobs(let values):
            Self.append(values, of: Self.bytes, to: &buffer) { value, buffer in
                Self.append(UInt32(value.count), to: &buffer)
                buffer.append(contentsOf: value)
            }
        }
        return true
    }

    /// An array of one dimension: dimensions, whether there are NULLs, the type, length, lower bound, and
    /// each element behind its length.
    private static func append<Element>(
        _ values: [Element?], of type: UInt32, to buffer: inout [UInt8],
        element: (Element, inout [UInt8]) -> Void
    ) {
        append(UInt32(values.isEmpty ? 0 : 1), to: &buffer)
        append(UInt32(values.contains { $0 == nil } ? 1 : 0), to: &buffer)
        append(type, to: &buffer)
        guard !values.isEmpty else { return }
        append(UInt32(values.count), to: &buffer)
        append(UInt32(1), to: &buffer)
        for value in values {
            if let value { element(value, &buffer) } else { append(UInt32.max, to: &buffer) }
        }
    }

    private static func append(_ number: some FixedWidthInteger, to buffer: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { buffer.append(contentsOf: $0) }
    }
}

/// A statement with its parameters.
struct PostgresStatement {
    enum Text: CustomStringConvertible {
        /// By the address of the literal the connection knows whether it has prepared it already.
        case kept(StaticString)
        /// Prepared each time.
        case once(String)

        var description: String {
            switch self {
            case .kept(let sql): sql.description
            case .once(let sql): sql
            }
        }
    }

    let sql: Text
    let values: [PostgresValue]

    init(_ sql: StaticString, _ values: PostgresValue...) { self.init(sql, values: values) }

    init(_ sql: StaticString, values: [PostgresValue]) {
        self.sql = .kept(sql)
        self.values = values
    }

    init(once sql: String, values: [PostgresValue] = []) {
        self.sql = .once(sql)
        self.values = values
    }
}
