import Foundation
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

@Suite("The store in a SQLite file")
struct SQLiteStoreTests {
    private func options(_ directory: String) -> SQLiteOptions {
        SQLiteOptions(path: directory + "/storage.db", synchronous: .normal)
    }

    private func set(_ value: String, by store: SQLiteWriter, in channel: ChannelKey = .message("lobby"))
        throws
    {
        var set = try store.metadata(of: channel)
        let write = WriteMetadata(.set, of: .lobby, items: [MetadataItem(key: "a", value: value)])
        let change = try set.apply(write, by: "anna", limits: .init(), now: 1)
        try store.save(change, to: set, of: channel)
    }

    @Test("what was committed is there for readers and after a restart; what wasn't is nowhere")
    func transactions() async throws {
        try await withDirectory { directory in
            let writer = try SQLiteWriter(options(directory))
            let reader = try SQLiteReader(options(directory))
            let lobby = ChannelKey.message("lobby")
            try writer.begin()
            try set("1", by: writer)
            writer.counter += 5
            #expect(try reader.metadata(of: lobby) == MetadataSet(), "nobody else sees it yet")
            try writer.commit()
            #expect(try reader.metadata(of: lobby).items.map(\.value) == ["1"])
            try writer.begin()
            try set("2", by: writer)
            writer.counter += 5
            writer.rollBack()
            #expect(writer.counter == 5)
            #expect(try writer.metadata(of: lobby).items.map(\.value) == ["1"], "memory forgets it, too")
            writer.close()
            let again = try SQLiteWriter(options(directory))
            #expect(again.counter == 5 && again.source != writer.source)
            #expect(try again.metadata(of: lobby) == reader.metadata(of: lobby))
            again.close()
            reader.close()
        }
    }

    @Test("a generated history of sets is read back as it was", arguments: 0..<5)
    func sets(_ seed: UInt64) async throws {
        try await withDirectory { directory in
            var random = SeededGenerator(seed: seed)
            let writer = try SQLiteWriter(options(directory))
            var model: [String: MetadataSet] = [:]
            for _ in 0..<200 {
                let name = ["x", "y", "z"].randomElement(using: &random) ?? "x"
                let keys = ["a", "b", "c", "d", "ß"].shuffled(using: &random).prefix(2)
                let kind = MetadataWriteKind.allCases.randomElement(using: &random) ?? .set
                let items =
                    random.chance(1, in: 9)
                    ? []
                    : keys.map {
                        MetadataItem(key: $0, value: random.text(upTo: 8))
                    }
                let write = WriteMetadata(
                    kind, of: .lobby, items: items, recordsTime: true, recordsAuthor: true)
                try writer.begin()
                var set = try writer.metadata(of: .message(name))
                #expect(set == model[name] ?? MetadataSet())
                if kind == .remove || !items.isEmpty,
                    let change = try? set.apply(write, by: "ann", limits: .init(), now: 77)
                {
                    try writer.save(change, to: set, of: .message(name))
                    model[name] = set
                }
                try writer.commit()
            }
            writer.close()
            let reader = try SQLiteReader(options(directory))
            for (name, set) in model { #expect(try reader.metadata(of: .message(name)) == set) }
            reader.close()
        }
    }

    @Test("numbers of 64 bits, empty texts and bytes come back as they went in")
    func values() async throws {
        try await withDirectory { directory in
            let writer = try SQLiteWriter(options(directory))
            let event = StorageOutboxEvent(
                source: .max, sequence: 1 << 62, channel: .message("lobby"), publisher: "", feature: .lock,
                event: [])
            var lock = LockTable.Lock(name: "l", ttlSeconds: 10)
            lock.owner = .init(user: "anna", instance: .max, presence: .away(until: 0))
            lock.token = .max
            let message = HistoryMessage(
                type: .binary, payload: [], customType: "", publisher: "anna", timestampMilliseconds: 1)
            try writer.begin()
            try writer.queue(event)
            try writer.save(lock, of: .message("lobby"))
            try writer.append(StoredMessage(channel: .message("lobby"), content: message, expiry: nil))
            try writer.commit()
            let reader = try SQLiteReader(options(directory))
            #expect(try reader.events(after: 0, limit: 9) == [event])
            #expect(try reader.locks(of: .message("lobby")).locks["l"] == lock)
            let get = GetHistory(channelType: .message, channel: "lobby", count: 9, start: 0, end: 0)
            let latest = try HistorySelection(get, of: .user("anna"))
            #expect(try reader.messages(latest, now: 5).messages == [message])
            #expect(try writer.channelsWithLockOwners() == [.message("lobby")])
            reader.close()
            writer.close()
        }
    }

    @Test("L-20: of large messages no more is read than a page shows, and one that says what follows")
    func largePage() async throws {
        try await withDirectory { directory in
            let writer = try SQLiteWriter(options(directory))
            try writer.begin()
            for time in 1...40 as ClosedRange<UInt64> {
                let message = HistoryMessage(
                    type: .binary, payload: Array(repeating: 7, count: 32_768), customType: "",
                    publisher: "anna", timestampMilliseconds: time)
                try writer.append(StoredMessage(channel: .message("lobby"), content: message, expiry: nil))
            }
            try writer.commit()
            let reader = try SQLiteReader(options(directory))
            let get = GetHistory(channelType: .message, channel: "lobby", count: 100, start: 0, end: 0)
            let found = try reader.messages(HistorySelection(get, of: .user("anna")), now: 5)
            #expect(found.messages.map(\.timestampMilliseconds) == (34...40).reversed())
            #expect(found.next == LogTime(milliseconds: 33))
            let connection = try options(directory).openReader()
            var seen: [UInt64] = []
            try connection.firstRows("SELECT time FROM history ORDER BY time") { row in
                seen.append(row.number(0))
                return seen.count < 3
            }
            #expect(seen == [1, 2, 3].map { LogTime(milliseconds: $0).number })
            connection.close()
            reader.close()
            writer.close()
        }
    }

    @Test("space of removed messages is used again")
    func space() async throws {
        try await withDirectory { directory in
            let writer = try SQLiteWriter(options(directory))
            func fill(from start: UInt64) throws {
                try writer.begin()
                for time in start..<start + 2_000 {
                    let message = HistoryMessage(
                        type: .binary, payload: Array(repeating: 7, count: 1_000), customType: "",
                        publisher: "anna", timestampMilliseconds: time)
                    try writer.append(
                        StoredMessage(channel: .message("lobby"), content: message, expiry: time + 10))
                }
                try writer.commit()
            }
            func pages() throws -> Int { try writer.pageCount() }
            try fill(from: 1)
            let full = try pages()
            for round in 1...5 as ClosedRange<UInt64> {
                try writer.begin()
                #expect(try writer.removeExpired(by: round * 10_000, limit: 5_000) == 2_000)
                try writer.commit()
                try fill(from: round * 10_000)
            }
            #expect(try pages() <= full + full / 10)
            writer.close()
        }
    }

    @Test("a file of the first version is migrated, and what its apps have is counted")
    func migration() async throws {
        try await withDirectory { directory in
            let path = directory + "/storage.db"
            let old = try SQLiteConnection(path: path, .readWrite, creating: true)
            try SQLiteSchema.migrate(old, to: 1)
            try old.execute(
                """
                INSERT INTO channels VALUES (1, 'app', 1, 'a', 3), (2, 'app', 2, 'b', 1), (3, 'app', 0, 'u', 1),
                    (4, 'app', 1, 'empty', 9), (5, 'other', 1, 'a', 0);
                INSERT INTO metadata VALUES (1, 'k', 1, 'v', 3, 0, ''), (1, 'l', 2, 'v', 3, 0, ''),
                    (2, 'k', 1, 'v', 1, 0, ''), (3, 'k', 1, 'v', 1, 0, '');
                INSERT INTO locks VALUES (1, 'x', 10, NULL, 0, 0), (1, 'y', 10, 'anna', 1, 5),
                    (5, 'x', 10, NULL, 0, 0);
                INSERT INTO history VALUES (1, 1000, NULL, 'anna', 1, '', x'01');
                """)
            old.close()
            let writer = try SQLiteWriter(options(directory))
            let usage = AppUsage(
                channelSets: 2, userSets: 1, locks: 2, historyBytes: 69, metadataBytes: 4 * 66)
            #expect(try writer.usage(of: "app") == usage)
            #expect(try writer.usage(of: "other") == AppUsage(channelSets: 0, userSets: 0, locks: 1))
            #expect(try writer.usage(of: "nobody") == AppUsage())
            #expect(try writer.metadata(of: .message("a")).items.map(\.key) == ["k", "l"])
            writer.close()
            let reader = try SQLiteReader(options(directory))
            let get = GetHistory(channelType: .message, channel: "a", count: 9, start: 0, end: 0)
            let messages = try reader.messages(HistorySelection(get, of: .user("anna")), now: 5).messages
            #expect(messages.map(\.time) == [LogTime(milliseconds: 1000)])
            reader.close()
        }
    }

    // MARK: When the file is not as it should be

    @Test("a file of a newer version is refused, with advice")
    func newer() async throws {
        try await withDirectory { directory in
            try SQLiteWriter(options(directory)).close()
            let connection = try SQLiteConnection(path: directory + "/storage.db", .readWrite)
            try connection.execute("PRAGMA user_version = 999")
            connection.close()
            let failure = storeFailure { try SQLiteWriter(options(directory)) }
            #expect(failure?.kind == .refused && failure?.reason.contains("schema 999") == true)
        }
    }

    @Test("a database of another program, and a file that is none, are refused")
    func foreign() async throws {
        try await withDirectory { directory in
            let connection = try SQLiteConnection(path: directory + "/storage.db", .readWrite, creating: true)
            try connection.execute("PRAGMA user_version = 1")
            connection.close()
            #expect(storeFailure { try SQLiteWriter(options(directory)) }?.kind == .corrupt)
        }
        try await withDirectory { directory in
            try Data(repeating: 0x41, count: 8_192).write(to: URL(fileURLWithPath: directory + "/storage.db"))
            #expect(storeFailure { try SQLiteWriter(options(directory)) }?.kind == .corrupt)
        }
    }

    @Test("a directory that isn't there is named")
    func missing() async throws {
        try await withDirectory { directory in
            let failure = storeFailure { try SQLiteWriter(options(directory + "/nowhere")) }
            #expect(failure?.kind == .inputOutput && failure?.reason.contains("nowhere") == true)
        }
    }

    @Test("a full file refuses what doesn't fit, keeps what was there, and goes on when there is room")
    func full() async throws {
        try await withDirectory { directory in
            var small = options(directory)
            small.bytesMax = 256 * 1024
            let writer = try SQLiteWriter(small)
            try writer.begin()
            try set("kept", by: writer)
            try writer.commit()
            var failure: StoreFailure?
            var time: UInt64 = 0
            while failure == nil, time < 1_000 {
                time += 1
                failure = storeFailure {
                    try writer.begin()
                    let message = HistoryMessage(
                        type: .binary, payload: Array(repeating: 7, count: 4_000), customType: "",
                        publisher: "anna", timestampMilliseconds: time)
                    try writer.append(StoredMessage(channel: .message("lobby"), content: message, expiry: 1))
                    try writer.commit()
                }
            }
            writer.rollBack()
            #expect(failure?.kind == .full)
            #expect(storeFailure { try writer.prove() }?.kind == .full)
            writer.rollBack()
            #expect(try writer.metadata(of: .message("lobby")).items.map(\.value) == ["kept"])
            try writer.begin()
            #expect(try writer.removeExpired(by: 2, limit: 10_000) == Int(time) - 1)
            try writer.commit()
            try writer.prove()
            writer.close()
        }
    }

    @Test("a file that another process holds is a failure of its own kind")
    func locked() async throws {
        try await withDirectory { directory in
            let writer = try SQLiteWriter(options(directory))
            let other = try SQLiteConnection(path: directory + "/storage.db", .readWrite)
            try other.execute("BEGIN IMMEDIATE")
            #expect(storeFailure { try writer.begin() }?.kind == .locked)
            try other.execute("ROLLBACK")
            try writer.begin()
            try writer.commit()
            other.close()
            writer.close()
        }
    }

    @Test("a damaged file is found by the check, and reading it fails without harm")
    func damaged() async throws {
        try await withDirectory { directory in
            let path = directory + "/storage.db"
            let writer = try SQLiteWriter(options(directory))
            try writer.begin()
            for number in 0..<500 { try set("\(number)", by: writer, in: .message("channel \(number)")) }
            try writer.commit()
            writer.close()
            #expect(try SQLiteMaintenance.check(path).isEmpty)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            for page in 2..<12 as Range<UInt64> {
                try file.seek(toOffset: page * 4_096 + 5)
                try file.write(contentsOf: Data(repeating: 0xFF, count: 3_000))
            }
            try file.close()
            let findings = (try? SQLiteMaintenance.check(path)) ?? ["it can't be read at all"]
            #expect(!findings.isEmpty)
        }
    }

    @Test("a backup taken while others write is whole, and is taken once")
    func backup() async throws {
        try await withDirectory { directory in
            let writer = try SQLiteWriter(options(directory))
            try writer.begin()
            try set("1", by: writer)
            try writer.commit()
            try writer.begin()
            try set("2", by: writer)
            let target = directory + "/copy.db"
            try SQLiteMaintenance.backup(directory + "/storage.db", to: target)
            try writer.commit()
            #expect(
                storeFailure { try SQLiteMaintenance.backup(directory + "/storage.db", to: target) } != nil)
            let restored = try SQLiteWriter(SQLiteOptions(path: target))
            #expect(try restored.metadata(of: .message("lobby")).items.map(\.value) == ["1"])
            restored.close()
            writer.close()
        }
    }
}

/// Why the store refused, or nil when it didn't.
func storeFailure<Success>(_ body: () throws -> Success) -> StoreFailure? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? StoreFailure
    }
}
