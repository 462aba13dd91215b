import RTMModel
import RTMRedis
import RTMWire

/// The answer of a roster script (Scripts/roster.lua, `finish`).
struct RosterReply {
    /// An event with its number and the source that the number counts for, which may be that of an earlier
    /// run of Redis.
    typealias Events = [(source: UInt64, sequence: UInt64, event: RosterEvent)]

    /// The outcome of a change over a link whose edge continues over a newer one. Nothing was done.
    static let isOlderLink = 3

    let outcome: Int
    let source: UInt64
    /// The number of the channel's last event.
    let sequence: UInt64
    let acknowledged: UInt64
    let isEmpty: Bool
    /// The events that this run of the script has made.
    let events: Events
    /// Users who are no members any more.
    let gone: [String]
    /// How many users are in the channel.
    let memberCount: Int

    static var unreadable: RTMError {
        RTMError(.presenceOperationFailed, "presence can't read what another version of it has written")
    }

    /// Returns nil for a reply that no script writes.
    init?(_ reply: RedisReply) {
        guard let parts = reply.elements, parts.count == 9, case .integer(let outcome) = parts[0],
            let sequence = parts[2].number, let acknowledged = parts[3].number,
            let isEmpty = parts[5].number, let events = parts[6].elements, let gone = parts[7].elements,
            let memberCount = parts[8].number
        else { return nil }
        self.outcome = outcome
        source = parts[1].number ?? 0
        self.sequence = sequence
        self.acknowledged = acknowledged
        self.isEmpty = isEmpty == 1
        self.events = events.compactMap(Self.event)
        guard self.events.count == events.count else { return nil }
        self.gone = gone.compactMap(\.string)
        self.memberCount = Int(memberCount)
    }

    /// Reads an entry of the outbox: number, kind, user, session, payload, source.
    static func event(_ entry: RedisReply) -> Events.Element? {
        guard case .string(let bytes) = entry else { return nil }
        let parts = Netstrings.split(bytes[...])
        guard parts.count == 6, let sequence = UInt64(text(parts[0])), let session = UInt64(text(parts[3])),
            let source = UInt64(text(parts[5]))
        else { return nil }
        let event: PresenceEvent
        switch text(parts[1]) {
        case "join": event = parts[4].isEmpty ? .joined : .joinedWithStates
        case "leave": event = .left
        case "timeout": event = .timedOut
        case "state": event = .statesChanged(change(Netstrings.split(parts[4])))
        case "interval": event = .interval(interval(parts[4]))
        default: return nil
        }
        return (source, sequence, RosterEvent(event, user: text(parts[2]), exceptSession: session))
    }

    /// Reads keys and values in turns.
    static func states(_ bytes: ArraySlice<UInt8>) -> [StateItem] {
        let parts = Netstrings.split(bytes).map(text)
        return stride(from: 0, to: parts.count - 1, by: 2)
            .map { StateItem(key: parts[$0], value: parts[$0 + 1]) }
    }

    private static func interval(_ bytes: ArraySlice<UInt8>) -> PresenceInterval {
        let lists = Netstrings.split(bytes).map { Netstrings.split($0) }
        guard lists.count == 4 else { return PresenceInterval() }
        return PresenceInterval(
            joined: lists[0].map(text), left: lists[1].map(text), timedOut: lists[2].map(text),
            states: lists[3].map { entry in
                let parts = Netstrings.split(entry)
                return change(parts.dropFirst(), of: parts.first.map(text) ?? "")
            })
    }

    /// Reads items, removed keys, and whether the items are all.
    private static func change(
        _ parts: some Collection<ArraySlice<UInt8>>, of user: String = ""
    ) -> StateChange {
        let parts = Array(parts)
        guard parts.count == 3 else { return StateChange(userID: user) }
        return StateChange(
            userID: user, items: states(parts[0]), removed: Netstrings.split(parts[1]).map(text),
            isWhole: text(parts[2]) == "1")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// Texts one behind the other, each after its length, as in "3:abc2:de".
enum Netstrings {
    static func split(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var rest = bytes
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")),
            let length = Int(String(decoding: rest[..<colon], as: UTF8.self)), length >= 0,
            rest.endIndex - colon > length
        {
            parts.append(rest[(colon + 1)..<(colon + 1 + length)])
            rest = rest[(colon + 1 + length)...]
        }
        return parts
    }
}

/// A member, as the hash of a roster holds it.
struct RosterRow {
    let session: UInt64
    let lease: UInt64
    let isQuiet: Bool
    let isLeaving: Bool

    init?(_ reply: RedisReply) {
        let fields = reply.string?.split(separator: " ") ?? []
        guard fields.count == 9, let session = UInt64(fields[0]), let lease = UInt64(fields[2]) else {
            return nil
        }
        self.session = session
        self.lease = lease
        isQuiet = fields[3] == "1"
        isLeaving = fields[5] == "l"
    }
}
