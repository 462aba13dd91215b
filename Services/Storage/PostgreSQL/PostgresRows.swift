internal import CPQ

/// What a statement has returned, in the binary format.
final class PostgresRows {
    private let result: OpaquePointer

    /// Takes the result over, and frees it in the end.
    init(_ result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }
    /// How many rows were written, for a statement that writes.
    var affected: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
    /// What the server says that it has done, such as "COMMIT".
    var tag: String { String(cString: PQcmdStatus(result)) }

    var first: PostgresRow? { count > 0 ? PostgresRow(rows: self, row: 0) : nil }

    fileprivate func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }

    fileprivate func isNull(_ row: Int32, _ column: Int32) -> Bool {
        PQgetisnull(result, row, column) == 1
    }
}

extension PostgresRows: Sequence {
    func makeIterator() -> some IteratorProtocol<PostgresRow> {
        (0..<Int32(count)).lazy.map { PostgresRow(rows: self, row: $0) }.makeIterator()
    }
}

/// A row. As in SQLite a NULL reads as 0 or as nothing.
struct PostgresRow {
    fileprivate let rows: PostgresRows
    fileprivate let row: Int32

    func isNull(_ column: Int32) -> Bool { rows.isNull(row, column) }

    /// A whole number of 2, 4 or 8 bytes, or a boolean.
    func integer(_ column: Int32) -> Int64 {
        let bytes = rows.bytes(row, column)
        var number: UInt64 = 0
        for byte in bytes { number = number << 8 | UInt64(byte) }
        return switch bytes.count {
        case 2: Int64(Int16(truncatingIfNeeded: number))
        case 4: Int64(Int32(truncatingIfNeeded: number))
        default: Int64(bitPattern: number)
        }
    }

    func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: integer(column)) }
    func optionalNumber(_ column: Int32) -> UInt64? { isNull(column) ? nil : number(column) }
    func blob(_ column: Int32) -> [UInt8] { Array(rows.bytes(row, column)) }
    func text(_ column: Int32) -> String { String(decoding: rows.bytes(row, column), as: UTF8.self) }
}
