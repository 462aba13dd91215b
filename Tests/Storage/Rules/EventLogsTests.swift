import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

/// What becomes of the entries of an app, in the time that they carry.
@Suite("W-41, W-43: entries become events, each with a number in its key") struct EventLogsTests {
    private var logs = EventLogs()
    private var place = FeedPosition()
    private var offset: UInt64 = 0

    private mutating func collect(
        _ entries: [(ChannelType, String, UInt64, PublishedEntry.Event)], gap: Bool = false, epoch: UInt64 = 7
    ) -> Bool {
        offset += 1
        let next = FeedPosition(epoch: epoch, sequence: offset, partition: 1, offset: offset)
        let feed = CollectedFeed(
            appID: "app", shard: 0, after: place, next: next, gap: gap,
            entries: entries.map { type, name, time, event in
                let content = PublishedEntry(
                    channelType: type, channel: name, timestampMilliseconds: time, event: event)
                return .init(content: content, frame: [1])
            })
        place = next
        return logs.collect(feed, now: 1_000)
    }

    private static func joined(_ users: String...) -> PublishedEntry.Event {
        .presence(joined: users, left: [], timedOut: [])
    }

    private static func left(_ users: String...) -> PublishedEntry.Event {
        .presence(joined: [], left: users, timedOut: [])
    }

    private var seen: [String] {
        logs.changes.events.map { "\($0.type) \($0.key.name) \($0.number) \($0.time)" }
    }

    @Test("offsets are dense in the app and numbers in each key, and a user's inbox and metadata are one key")
    mutating func numbers() {
        _ = collect([
            (.message, "a", 1, .message), (.message, "b", 2, .message), (.message, "a", 3, .lock),
            (.user, "ann", 4, .message), (.none, "ann", 5, .metadata), (.stream, "a", 6, .message),
            (.topics, "a", 7, .message),
        ])
        #expect(
            seen == [
                "message a 1 1", "message b 1 2", "lock a 2 3", "message ann 1 4", "metadata ann 2 5",
                "message a 1 6",
            ])
        #expect(logs.changes.events.map(\.offset) == [1, 2, 3, 4, 5, 6])
    }

    @Test("a channel is occupied by its first user, and vacated five seconds after its last one left")
    mutating func vacated() {
        _ = collect([
            (.message, "a", 1_000, Self.joined("ann")), (.message, "a", 1_001, Self.joined("ben", "ann")),
            (.message, "a", 2_000, Self.left("ann")), (.message, "a", 3_000, Self.left("ben")),
        ])
        let key = ChannelKey(appID: "app", type: .message, name: "a")
        logs.settle(key, upTo: 7_999)
        #expect(
            seen == [
                "channelOccupied a 1 1000", "channelJoined a 2 1000", "channelJoined a 3 1001",
                "channelLeft a 4 2000", "channelLeft a 5 3000",
            ])
        logs.settle(key, upTo: 8_000)
        logs.settle(key, upTo: 9_000)
        #expect(seen.suffix(2) == ["channelLeft a 5 3000", "channelVacated a 6 8000"])
        _ = collect([(.message, "a", 9_500, Self.joined("ann"))])
        #expect(seen.suffix(2) == ["channelOccupied a 7 9500", "channelJoined a 8 9500"])
    }

    @Test("who returns within five seconds withdraws it, and later than that it comes before the return")
    mutating func withdrawn() {
        _ = collect([
            (.message, "a", 1_000, Self.joined("ann")), (.message, "a", 2_000, Self.left("ann")),
            (.message, "a", 6_999, Self.joined("ann")), (.message, "a", 8_000, Self.left("ann")),
            (.message, "a", 13_000, Self.joined("ben")),
        ])
        #expect(
            seen.suffix(5) == [
                "channelJoined a 4 6999", "channelLeft a 5 8000", "channelVacated a 6 13000",
                "channelOccupied a 7 13000", "channelJoined a 8 13000",
            ])
        logs.settle(ChannelKey(appID: "app", type: .message, name: "a"), upTo: .max)
        #expect(seen.count == 8)
    }

    @Test("a user who is gone twice, or never was there, vacates nothing")
    mutating func unknown() {
        _ = collect([
            (.message, "a", 1_000, Self.left("ann")), (.message, "a", 2_000, Self.joined("ann")),
            (.message, "a", 3_000, Self.left("ben")), (.message, "a", 3_001, Self.left("ben")),
        ])
        #expect(logs.keys.values.first { $0.members > 0 }?.due == nil)
        #expect(!seen.contains { $0.hasPrefix("channelVacated") })
    }

    @Test("an interval has one event for those who came and one for those who went")
    mutating func interval() {
        _ = collect([
            (.message, "a", 1_000, .presence(joined: ["x", "y"], left: ["x"], timedOut: [])),
            (.message, "a", 2_000, .presence(joined: [], left: [], timedOut: ["y"])),
            (.message, "a", 2_001, .presence(joined: [], left: [], timedOut: [])),
        ])
        #expect(
            seen == [
                "channelOccupied a 1 1000", "channelJoined a 2 1000", "channelLeft a 3 1000",
                "channelLeft a 4 2000",
            ])
        let key = ChannelKey(appID: "app", type: .message, name: "a")
        #expect(logs.keys[key]?.due == 7_000)
    }

    @Test("sessions: login, logout and timeout at once, offline five seconds later unless the user returns")
    mutating func sessions() {
        _ = collect([
            (.none, "ann", 1_000, Self.joined("ann")), (.none, "ann", 2_000, Self.left("ann")),
            (.none, "ann", 3_000, Self.joined("ann")),
            (.none, "ann", 4_000, .presence(joined: [], left: [], timedOut: ["ann"])),
        ])
        logs.settle(ChannelKey(appID: "app", type: .user, name: "ann"), upTo: 10_000)
        #expect(
            seen == [
                "login ann 1 1000", "logout ann 2 2000", "login ann 3 3000", "timeout ann 4 4000",
                "userOffline ann 5 9000",
            ])
    }

    @Test("a gap is an event of the app, and names what is known")
    mutating func gap() throws {
        _ = collect([(.message, "a", 1, .message)])
        _ = collect([(.message, "a", 2, .message)], gap: true)
        _ = collect([], gap: true, epoch: 8)
        #expect(seen == ["message a 1 1", "gap  1 1000", "message a 2 2", "gap  2 1000"])
        let bodies = logs.changes.events.filter { $0.type == .gap }.map(\.body)
        let reasons = bodies.map { String(decoding: $0, as: UTF8.self) }
        #expect(reasons[0].contains("lost or dropped") && reasons[1].contains("new logs"))
    }

    @Test("entries that don't follow what is kept are refused as a whole")
    mutating func twice() {
        let first = collect([(.message, "a", 1, .message)])
        #expect(first)
        let (kept, before) = (place, seen)
        place = FeedPosition()
        let again = collect([(.message, "a", 1, .message)])
        #expect(!again)
        place = FeedPosition(epoch: 7, sequence: 9, partition: 2, offset: kept.offset)
        let other = collect([(.message, "a", 1, .message)])
        #expect(!other)
        // The same entry, seen later.
        place = FeedPosition(epoch: 7, sequence: 99, partition: kept.partition, offset: kept.offset)
        #expect(seen == before)
        let next = collect([(.message, "a", 2, .message)])
        #expect(next)
    }
}
