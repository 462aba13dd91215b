import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

/// A client that uses ever new channels must not fill the file with their names, and a channel that is used
/// again must not go back to its earlier numbers.
@Suite("Channels that nothing hangs on")
struct UnusedChannelTests {
    private static let now = StorageNow(wall: 1_000, steady: 1_000)

    private func options(_ directory: String) -> SQLiteOptions {
        SQLiteOptions(path: directory + "/storage.db", synchronous: .normal)
    }

    private func message(at time: UInt64, to channel: String, expiry: UInt64 = 10) -> StoredMessage {
        let content = HistoryMessage(
            type: .text, payload: [1], customType: "", publisher: "anna", timestampMilliseconds: time)
        return StoredMessage(channel: .message(channel), content: content, expiry: expiry)
    }

    private func event(_ sequence: UInt64, of channel: String) -> StorageOutboxEvent {
        StorageOutboxEvent(
            source: 1, sequence: sequence, channel: .message(channel), publisher: "anna", feature: .lock,
            event: [1])
    }

    /// The names of the channels that have a row.
    private func names(_ directory: String) throws -> [String] {
        let connection = try options(directory).openReader()
        defer { connection.close() }
        return try connection.texts("SELECT name FROM channels ORDER BY name")
    }

    private func transaction(_ store: SQLiteWriter, _ body: () throws -> Void) throws {
        try store.begin()
        try body()
        try store.commit()
    }

    @Test("their space is used again, however many names there were")
    func space() async throws {
        try await withDirectory { directory in
            let store = try SQLiteWriter(options(directory))
            var full = 0
            for round in 0..<5 {
                try transaction(store) {
                    for number in 0..<2_000 {
                        try store.append(message(at: 1, to: "a channel of round \(round), \(number)"))
                    }
                }
                if round == 0 { full = try store.pageCount() }
                try transaction(store) { _ = try store.removeExpired(by: 10, limit: 2_000) }
                // The last search finds the end of the table, and the next one begins at its start.
                for _ in 0..<5 { try transaction(store) { try store.removeUnusedChannels(limit: 500) } }
                #expect(try names(directory).isEmpty)
            }
            #expect(try store.pageCount() <= full + full / 10)
            store.close()
        }
    }

    @Test("a message, a lock or an event that waits keeps its channel, and a revision does for ever")
    func used() async throws {
        try await withDirectory { directory in
            let store = try SQLiteWriter(options(directory))
            var set = MetadataSet()
            func write(_ kind: MetadataWriteKind) throws {
                let write = WriteMetadata(kind, of: .lobby, items: [MetadataItem(key: "k", value: "v")])
                let change = try set.apply(write, by: "anna", limits: .init(), now: 1)
                try store.save(change, to: set, of: .message("set"))
            }
            try transaction(store) {
                try store.append(message(at: 1, to: "history"))
                try store.save(LockTable.Lock(name: "l", ttlSeconds: 10), of: .message("lock"))
                try store.queue(event(1, of: "event"))
                try write(.set)
                try write(.remove)
                try store.removeUnusedChannels(limit: 100)
            }
            #expect(try names(directory) == ["event", "history", "lock", "set"])
            let reader = try SQLiteReader(options(directory))
            #expect(try reader.events(after: 0, limit: 9).map(\.channel) == [.message("event")])
            reader.close()
            try transaction(store) {
                #expect(try store.removeExpired(by: 10, limit: 9) == 1)
                try store.removeLock("l", of: .message("lock"))
                try store.removeEvents([1...1])
                for _ in 0..<2 { try store.removeUnusedChannels(limit: 100) }
            }
            #expect(try names(directory) == ["set"])
            #expect(try store.metadata(of: .message("set")) == MetadataSet(majorRevision: 2), "D-10")
            store.close()
        }
    }

    @Test("one that is used again begins anew, and takes nothing over from whoever has its number now")
    func again() async throws {
        try await withDirectory { directory in
            let store = try SQLiteWriter(options(directory))
            try transaction(store) { try store.append(message(at: 1, to: "first")) }
            try transaction(store) {
                #expect(try store.removeExpired(by: 10, limit: 9) == 1)
                try store.removeUnusedChannels(limit: 100)
            }
            try transaction(store) { try store.append(message(at: 2, to: "second", expiry: 99)) }
            try transaction(store) { try store.append(message(at: 3, to: "first", expiry: 99)) }
            let reader = try SQLiteReader(options(directory))
            for (name, time) in [("first", 3), ("second", 2)] as [(String, UInt64)] {
                let get = GetHistory(channelType: .message, channel: name, count: 9, start: 0, end: 0)
                let found = try reader.messages(HistorySelection(get, of: .user("anna")), now: 11)
                #expect(found.messages.map(\.timestampMilliseconds) == [time])
            }
            reader.close()
            store.close()
        }
    }

    @Test("fencing tokens and the revisions of lock events grow on in a channel that had been forgotten")
    func tokens() async throws {
        try await withDirectory { directory in
            let store = try SQLiteWriter(options(directory))
            var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
            func lock(_ action: LockRequest.Action) -> StorageWrite {
                StorageWrite(
                    LockChange(
                        LockRequest(action, "l", at: .lobby), of: .message("lobby"), ticket: 1,
                        by: .user("anna")), link: 1, request: 1)
            }
            let life: [LockRequest.Action] = [
                .set(ttlSeconds: 10), .acquire(retry: false, heldToken: 0), .release(withdraw: false),
                .remove,
            ]
            var sequences: [UInt64] = []
            var tokens: [UInt64] = []
            for _ in 0..<2 {
                for action in life {
                    let events = writer.run([lock(action)], now: Self.now).events
                    sequences += events.map(\.sequence)
                    tokens += try store.locks(of: .message("lobby")).locks.values.map(\.token)
                }
                let works: [any StorageChange] = [
                    OutboxAcknowledgement(of: [1...(sequences.last ?? 1)]), UnusedChannels(limit: 100),
                    UnusedChannels(limit: 100),
                ]
                for work in works {
                    #expect(writer.run([StorageWrite(work)], now: Self.now).failure == nil)
                }
                #expect(try names(directory).isEmpty)
            }
            #expect(sequences.count == 8 && sequences == Array(Set(sequences)).sorted())
            // A lock has no token before its first acquisition.
            #expect(tokens.count == 6 && tokens[4] > tokens[1] && tokens[1] > 0)
            writer.close()
        }
    }

    @Test("nobody waits for a search beside thousands of events that messaging hasn't taken")
    func manyEvents() async throws {
        try await withDirectory { directory in
            let store = try SQLiteWriter(options(directory))
            try transaction(store) {
                for sequence in 1...1_001 as ClosedRange<UInt64> {
                    try store.queue(event(sequence, of: "busy"))
                }
                try store.append(message(at: 1, to: "gone"))
                #expect(try store.removeExpired(by: 10, limit: 9) == 1)
                try store.removeUnusedChannels(limit: 100)
            }
            #expect(try names(directory) == ["busy", "gone"])
            try transaction(store) {
                try store.removeEvents([1...1])
                try store.removeUnusedChannels(limit: 100)
            }
            #expect(try names(directory) == ["busy"])
            store.close()
        }
    }
}
