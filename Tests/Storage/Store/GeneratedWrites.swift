import RTMModel
import RTMTestSupport
import RTMWire

@testable import RTMStorageServer

/// Groups of writes of every kind to a few channels, so that most of them meet existing data.
struct GeneratedWrites {
    private static let users = ["anna", "ben"]

    private var random: SeededGenerator
    private var number: UInt64 = 0
    private var time: UInt64 = 1_000_000

    init(seed: UInt64) { random = SeededGenerator(seed: seed &+ 1 << 32) }

    /// - Parameter contents: the present contents of the store.
    mutating func group(_ contents: StoreContents) -> [StorageWrite] {
        (0..<Int.random(in: 1...6, using: &random)).map { _ in
            number += 1
            let user = Self.users.randomElement(using: &random) ?? "anna"
            return StorageWrite(work(contents), caller: .user(user), link: 1, request: number)
        }
    }

    private mutating func work(_ contents: StoreContents) -> StorageWrite.Work {
        let name = StoreContents.channels.randomElement(using: &random) ?? "a"
        let channel = ChannelKey.message(name)
        switch Int.random(in: 0..<11, using: &random) {
        case 0...2:
            let items = ["k", "l", "m"].shuffled(using: &random).prefix(2).map {
                MetadataItem(key: $0, value: "\(number)" + random.text(upTo: 900))
            }
            let kind: MetadataWriteKind = random.chance(1, in: 5) ? .remove : .set
            return .metadata(WriteMetadata(kind, of: .lobby, items: items), of: channel)
        case 3...4: return .lock(LockRequest(lockAction(), "l", at: .lobby), of: channel, ticket: number)
        case 5...6:
            time += 1
            let content = HistoryMessage(
                type: .binary, payload: random.bytes(upTo: 6_000), customType: "", publisher: "anna",
                timestampMilliseconds: time)
            let origin = StoredMessage.Origin(instance: 1, sequence: number)
            return .history(
                StoredMessage(
                    channel: channel, content: content, origin: origin,
                    expiry: random.chance(1, in: 3) ? number : nil))
        case 7: return .removeExpiredHistory(limit: 3)
        case 8: return .removeUnusedChannels(limit: 2)
        case 9:
            let before = random.chance(1, in: 2) ? 0 : time
            return .purgeHistory(
                HistoryPurge(PurgeHistoryRequest(channel: channel, beforeMilliseconds: before), limit: 2))
        default:
            let known = contents.events.prefix(Int.random(in: 0...8, using: &random))
            guard let first = known.first, let last = known.last else { return .announced([]) }
            return .announced([first.sequence...last.sequence])
        }
    }

    private mutating func lockAction() -> LockRequest.Action {
        switch Int.random(in: 0...4, using: &random) {
        case 0: .remove
        case 1: .release(withdraw: false)
        case 2, 3: .acquire(retry: false, heldToken: 0)
        default: .set(ttlSeconds: 10)
        }
    }
}

/// Everything that a store holds.
struct StoreContents: Equatable {
    static let channels = ["a", "b", "c"]

    let counter: UInt64
    let events: [StorageOutboxEvent]
    var sets: [MetadataSet] = []
    var locks: [LockTable] = []
    var messages: [[HistoryMessage]] = []

    init(_ reader: some ReadableStore) throws {
        counter = try reader.committedCounter()
        events = try reader.events(after: 0, limit: 100_000)
        for name in Self.channels {
            sets.append(try reader.metadata(of: .message(name)))
            locks.append(try reader.locks(of: .message(name)))
            let all = GetHistory(channelType: .message, channel: name, count: 100, start: 0, end: 0)
            messages.append(try reader.messages(HistorySelection(all, of: .user("anna")), now: 0).messages)
        }
    }
}
