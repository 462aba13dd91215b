import RTMModel
import RTMTestSupport
import RTMWire

@testable import RTMStorageServer

/// Groups of writes of every kind to a few channels, so that most of them meet existing data.
struct GeneratedWrites {
    private static let users = ["anna", "ben"]

    /// The time of the next group.
    private(set) var now = StorageNow(wall: 1_000_000, steady: 1_000)
    /// Whether an hour passes now and then. Messages expire at full hours then, and what has expired is
    /// removed at once, because that is when all engines do the same.
    private let hours: Bool
    private var random: SeededGenerator
    private var number: UInt64 = 0
    private var time: UInt64 = 1_000_000
    /// The latest messages, which may be sent again.
    private var sent: [StoredMessage] = []

    init(seed: UInt64, hours: Bool = false) {
        random = SeededGenerator(seed: seed &+ 1 << 32)
        self.hours = hours
    }

    /// - Parameter contents: the present contents of the store.
    mutating func group(_ contents: StoreContents) -> [StorageWrite] {
        if hours, random.chance(1, in: 12) {
            now = StorageNow(wall: now.wall + 3_600_000, steady: now.steady + 3_600_000)
        }
        return (0..<Int.random(in: 1...6, using: &random)).map { _ in
            number += 1
            let user = Self.users.randomElement(using: &random) ?? "anna"
            return StorageWrite(change(contents, by: user), link: 1, request: number)
        }
    }

    private mutating func change(_ contents: StoreContents, by user: String) -> any StorageChange {
        let name = StoreContents.channels.randomElement(using: &random) ?? "a"
        let channel = ChannelKey.message(name)
        switch Int.random(in: 0..<15, using: &random) {
        case 0...2:
            let items = ["k", "l", "m"].shuffled(using: &random).prefix(2).map {
                MetadataItem(key: $0, value: "\(number)" + random.text(upTo: 900))
            }
            let kind: MetadataWriteKind = random.chance(1, in: 5) ? .remove : .set
            return MetadataEdit(WriteMetadata(kind, of: .lobby, items: items), of: channel, by: user)
        case 3...4:
            return LockChange(
                LockRequest(lockAction(), "l", at: .lobby), of: channel, ticket: number, by: .user(user))
        case 5...6: return message(in: channel)
        case 7: return ExpiredHistory(limit: hours ? 1_000 : 3)
        case 8: return UnusedChannels(limit: 2)
        case 9:
            let before = random.chance(1, in: 2) ? 0 : time
            return HistoryPurge(PurgeHistoryRequest(channel: channel, beforeMilliseconds: before), limit: 2)
        case 10: return ban()
        case 11: return reader(contents)
        case 12: return keep(contents)
        case 13: return audit()
        default:
            // Some events in front may wait, as where a shard of messaging is gone.
            let first = random.chance(1, in: 3) ? Int.random(in: 0...3, using: &random) : 0
            let known = contents.events.prefix(first + Int.random(in: 0...8, using: &random))
            guard first < known.count, let last = known.last else { return OutboxAcknowledgement(of: []) }
            let before = known.prefix(first).last?.sequence ?? 0
            return OutboxAcknowledgement(of: [before + 1...last.sequence])
        }
    }

    /// Some messages come twice, also at a later time, some have the time of another one, and some have no
    /// origin.
    private mutating func message(in channel: ChannelKey) -> StoredMessage {
        let unexpired = sent.filter { !hours || $0.expiry.map { $0 > now.wall } ?? true }
        if random.chance(1, in: 6), var again = unexpired.randomElement(using: &random) {
            if again.origin != nil, random.chance(1, in: 2) {
                time += 1
                again.content.timestampMilliseconds = time
            }
            return again
        }
        if !random.chance(1, in: 5) { time += 1 }
        let content = HistoryMessage(
            type: .binary, payload: random.bytes(upTo: 6_000), customType: "", publisher: "anna",
            timestampMilliseconds: time, order: .random(in: 0...1, using: &random))
        let message = StoredMessage(
            channel: channel, content: content,
            origin: random.chance(1, in: 6) ? nil : .init(instance: 1, sequence: number),
            expiry: random.chance(1, in: hours ? 2 : 3) ? expiry() : nil)
        sent = sent.suffix(4) + [message]
        return message
    }

    private mutating func expiry() -> UInt64 {
        hours ? (now.wall / 3_600_000 + .random(in: 1...3, using: &random)) * 3_600_000 : number
    }

    private mutating func ban() -> any StorageChange {
        Ban(
            appID: "app", userID: Self.users.randomElement(using: &random) ?? "",
            untilMilliseconds: random.chance(1, in: 3) ? 0 : now.wall + 1_000_000 + number,
            reason: "\(number)\0",
            endsSession: true, by: "ö", tokensBeforeSeconds: random.chance(1, in: 2) ? 0 : number)
    }

    private mutating func audit() -> KeepAudit {
        KeepAudit(
            appID: random.chance(1, in: 4) ? "other" : "app",
            line: AuditLine(
                timeMilliseconds: time, by: "key ö", address: "::1",
                what: ["kick", "ban"].randomElement(using: &random) ?? "", whom: "\(number)\0",
                outcome: "200", omitted: number % 3))
    }

    private mutating func reader(_ contents: StoreContents) -> ClaimReader {
        ClaimReader(
            appID: "app", name: ["r", "é"].randomElement(using: &random) ?? "", node: "n\(number)",
            lease: random.chance(1, in: 2) ? .zero : .seconds(1))
    }

    private mutating func keep(_ contents: StoreContents) -> any StorageChange {
        guard let reader = contents.readers.randomElement(using: &random) else { return BanListing() }
        let position = StreamPosition(epoch: 1, offset: UInt64.random(in: 1...3, using: &random))
        guard !random.chance(1, in: 5) else {
            let forgets = random.chance(1, in: 2)
            return MoveReader(appID: "app", name: reader.name, position: position, forgets: forgets)
        }
        let letters = (0..<Int.random(in: 0...2, using: &random)).map { _ in
            DeadLetter(
                number: 0, position: position, timeMilliseconds: number, reason: "\(number)\0",
                body: [0, 255])
        }
        let known = contents.letters.flatMap(\.self).prefix(1)
        return KeepReader(
            appID: "app", name: reader.name, term: reader.term, lease: .seconds(1), position: position,
            state: random.bytes(upTo: 20), letters: letters,
            removed: random.chance(1, in: 3) ? known.map { DeadLetterNumber(number: $0.number) } : [])
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
    let bans: [Ban]
    let readers: [EventReader]
    var letters: [[DeadLetter]] = []
    let audit: [AuditLine]

    /// - Parameter now: when messages have expired; nil for all that is there.
    init(_ reader: some ReadableStore, now: StorageNow? = nil) throws(StoreFailure) {
        let wall = now?.wall ?? 1_000_000
        counter = try reader.committedCounter()
        events = try reader.events(after: 0, limit: 100_000)
        bans = try reader.bans(after: BansRequest(), now: wall, limit: 100)
        readers = try reader.readers(ReadersRequest(appID: "app"), limit: 100, now: wall)
        audit = try reader.audit(AuditRequest(appID: "app"), limit: 15)
        for name in readers.map(\.name) {
            letters.append(
                try reader.deadLetters(DeadLettersRequest(appID: "app", name: name), limit: 100))
        }
        for name in Self.channels {
            sets.append(try reader.metadata(of: .message(name)))
            locks.append(try reader.locks(of: .message(name)))
            let all = GetHistory(channelType: .message, channel: name, count: 100, start: 0, end: 0)
            guard let query = try? HistorySelection(all, of: .user("anna")) else { continue }
            messages.append(try reader.messages(query, now: now?.wall ?? 0).messages)
        }
    }
}
