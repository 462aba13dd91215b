import CSQLite

/// A value of a column.
package enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    /// A number of 64 bits keeps its bits. Numbers are compared only where the first bit is 0.
    static func number(_ value: UInt64) -> SQLiteValue { .integer(Int64(bitPattern: value)) }
}

extension SQLiteValue {
    fileprivate var byteCount: Int {
        switch self {
        case .integer, .null: 0
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }
}

/// A prepared statement of one connection.
package final class SQLiteStatement {
    private let handle: OpaquePointer
    /// The texts and blobs of the values, one behind the other. SQLite reads them here and needn't make
    /// copies of its own.
    private var room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 1)

    init(_ handle: OpaquePointer) { self.handle = handle }

    func finalize() {
        sqlite3_finalize(handle)
        room.deallocate()
    }

    /// Makes the statement ready to run again.
    func reset() { sqlite3_reset(handle) }

    func step() -> Int32 { sqlite3_step(handle) }

    /// Binds all values of the statement, which has been reset.
    func bind(_ values: [SQLiteValue]) -> Int32 {
        let bytes = values.reduce(0) { $0 + $1.byteCount }
        if bytes > room.count {
            // Nothing reads the old values any more, but SQLite still knows where they are.
            sqlite3_clear_bindings(handle)
            room.deallocate()
            room = .allocate(byteCount: bytes * 2, alignment: 1)
        }
        var free = UnsafeMutableRawBufferPointer(rebasing: room[...])
        for (index, value) in values.enumerated() {
            let code = bind(value, at: Int32(index + 1), &free)
            guard code == SQLITE_OK else { return code }
        }
        return SQLITE_OK
    }

    private func bind(
        _ value: SQLiteValue, at index: Int32, _ free: inout UnsafeMutableRawBufferPointer
    ) -> Int32 {
        switch value {
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .null: return sqlite3_bind_null(handle, index)
        case .text(var text):
            let bytes = text.withUTF8 { Self.keep(UnsafeRawBufferPointer($0), &free) }
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return sqlite3_bind_text(handle, index, start, Int32(bytes.count), nil)
        case .blob(let blob):
            let bytes = blob.withUnsafeBytes { Self.keep($0, &free) }
            return sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), nil)
        }
    }

    /// Copies bytes. The copy has an address even when it is empty, because SQLite would take a missing
    /// address for NULL.
    private static func keep(
        _ bytes: UnsafeRawBufferPointer, _ free: inout UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        let place = UnsafeMutableRawBufferPointer(start: free.baseAddress, count: bytes.count)
        place.copyMemory(from: bytes)
        free = UnsafeMutableRawBufferPointer(rebasing: free[bytes.count...])
        return UnsafeRawBufferPointer(place)
    }

    // MARK: The present row

    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }

    package func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    package func blob(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }
}
