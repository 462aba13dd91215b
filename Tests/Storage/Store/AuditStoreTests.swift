import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// The audit trail as the store keeps it, over all engines.
@Suite("W-31: an audit trail that is kept and bounded")
struct AuditStoreTests {
    static let now = StorageNow(wall: 1_000_000, steady: 1_000)

    private func write(_ whom: String, _ what: String, by: String = "key a", app: String = "app")
        -> StorageWrite
    {
        let line = AuditLine(
            timeMilliseconds: 5, by: by, address: "::1", what: what, whom: whom, outcome: "200")
        return StorageWrite(KeepAudit(appID: app, line: line), link: 1, request: 1)
    }

    private func page(_ reader: some ReadableStore, before: UInt64 = 0, limit: UInt32 = 10) throws
        -> AuditResponse
    {
        let request = AuditRequest(appID: "app", before: before, limit: limit)
        return try reader.snapshot { () throws(StoreFailure) in try request.answer(from: reader, now: 0) }
    }

    @Test("lines come newest first and in pages, each app has its own, and they are there after a restart")
    func pages() async throws {
        try await withDirectory { directory in
            let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
            var writer = try StorageWriter(SQLiteWriter(options), rules: StorageRules(), now: Self.now)
            let outcome = writer.run(
                [write("a", "ban"), write("x", "ban", app: "other"), write("b", "kick")], now: Self.now)
            #expect(outcome.answers.count == 3)
            writer.close()
            writer = try StorageWriter(SQLiteWriter(options), rules: StorageRules(), now: Self.now)
            _ = writer.run([write("c", "ban")], now: Self.now)
            let reader = try SQLiteReader(options)
            let first = try page(reader, limit: 2)
            #expect(first.lines.map(\.whom) == ["c", "b"] && first.lines.map(\.number) == [3, 2])
            #expect(first.hasMore && first.lines[0].address == "::1" && first.lines[0].timeMilliseconds == 5)
            let rest = try page(reader, before: 2)
            #expect(rest.lines.map(\.whom) == ["a"] && !rest.hasMore)
            reader.close()
            writer.close()
        }
    }

    @Test("what a key does all the time takes no place from its other lines, nor from those of others")
    func bounded() async throws {
        try await withDirectory { directory in
            let memory = MemoryStore(source: Engine.source)
            try bound([
                Engine.file(directory, StorageRules(), Self.now),
                Engine("memory", memory, memory, StorageRules(), Self.now),
            ])
        }
    }

    func bound(_ engines: [Engine]) throws {
        defer { for engine in engines { engine.close() } }
        let busy = (0..<AuditTrail.linesPerKindMax + 5).map { write("\($0)", "POST tokens") }
        for group in [[write("ann", "POST users ban"), write("x", "POST tokens", by: "key b")], busy] {
            for engine in engines { #expect(engine.run(group, Self.now).failure == nil) }
        }
        for engine in engines {
            var found: [AuditLine] = []
            while true {
                let page = try page(engine.reader, before: found.last?.number ?? 0, limit: 400)
                found += page.lines
                guard page.hasMore else { break }
            }
            #expect(found.count == AuditTrail.linesPerKindMax + 2, "\(engine.name)")
            #expect(found.suffix(2).map(\.whom) == ["x", "ann"] && found.suffix(2).map(\.number) == [2, 1])
            #expect(found.first?.whom == "\(busy.count - 1)" && found.dropLast(2).last?.whom == "5")
            #expect(found.first?.number == UInt64(busy.count + 2))
        }
    }
}
