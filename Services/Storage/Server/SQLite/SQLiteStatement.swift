import CSQLite

/// A value of a column.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    /// Numbers of 64 bits are kept as they are; they are compared only where the first bit is 0.
    static func number(_ value: UInt64) -> SQLiteValue { .integer(Int64(bitPattern: value)) }
}

/// A prepared statement of one connection.
final class SQLiteStatement {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }

    func finalize() { sqlite3_finalize(handle) }

    /// Ready to be run again; the values are let go.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    func step() -> Int32 { sqlite3_step(handle) }

    func bind(_ values: [SQLiteValue]) -> Int32 {
        for (index, value) in values.enumerated() {
            let code = bind(value, at: Int32(index + 1))
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
        switch value {
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .null: return sqlite3_bind_null(handle, index)
        case .text(var text):
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    // No text has no address; SQLite would take it for NULL.
                    characters.baseAddress.map {
                        rtm_sqlite_bind_text(handle, index, $0, Int32(characters.count))
                    } ?? rtm_sqlite_bind_text(handle, index, "", 0)
                }
            }
        case .blob(let bytes):
            return bytes.withUnsafeBytes {
                rtm_sqlite_bind_blob(handle, index, $0.baseAddress, Int32($0.count))
            }
        }
    }

    // MARK: The present row

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
