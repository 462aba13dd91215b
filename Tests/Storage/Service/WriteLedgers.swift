import RTMProtocol
import RTMTestSupport
import Synchronization
import Testing

/// What writers of two items with one value have tried, each in a channel of its own, and what was
/// acknowledged.
final class WriteLedgers: Sendable {
    private struct Ledger {
        /// The values by revision, as they were acknowledged.
        var acknowledged: [Int64: String] = [:]
        var attempted: Set<String> = []
    }

    private let channels = Mutex<[String: Ledger]>([:])
    private let acknowledged = Mutex(0)

    /// How many writes were acknowledged.
    var count: Int { acknowledged.withLock { $0 } }

    /// Writes a value that no other write has.
    func write(_ value: String, to channel: String, _ caller: some StorageCalling) async throws {
        channels.withLock { _ = $0[channel, default: Ledger()].attempted.insert(value) }
        let revision = try await caller.write([("a", value), ("b", value)], to: channel)
        channels.withLock { $0[channel, default: Ledger()].acknowledged[revision] = value }
        acknowledged.withLock { $0 += 1 }
    }

    /// Nothing acknowledged is lost, no write took place by half or twice, and each change was announced
    /// once, in order.
    func check(_ channel: String, _ caller: some StorageCalling, _ log: LogReader) async throws {
        let ledger = channels.withLock { $0[channel] ?? Ledger() }
        let set = try await caller.metadata(of: channel)
        let last = ledger.acknowledged.keys.max() ?? 0
        #expect(set.majorRevision >= last, "\(channel): an acknowledged write is lost")
        func events() -> [Rtm_Client_StorageEvent] {
            log.publications.filter { $0.channel == channel }.map(\.storage)
        }
        try await eventually("every change of \(channel) is announced") {
            events().last?.majorRevision == set.majorRevision
        }
        let found = events()
        #expect(
            found.map(\.majorRevision) == Array(1...max(1, set.majorRevision)),
            "\(channel): each once, in order")
        for event in found {
            let values = event.items.map(\.value)
            #expect(values.count == 2 && values[0] == values[1], "a half write at \(event.majorRevision)")
            #expect(ledger.attempted.contains(values[0]))
            if let expected = ledger.acknowledged[event.majorRevision] { #expect(values[0] == expected) }
        }
        #expect(Set(found.map { $0.items[0].value }).count == found.count, "no write took place twice")
    }
}
