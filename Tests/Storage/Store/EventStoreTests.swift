import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// Events as the database keeps them.
@Suite("W-41, W-42: events are kept with the place in the feed, and read from a position on")
struct EventStoreTests {
    private struct Fixture {
        var writer: StorageWriter<SQLiteWriter>
        let reader: SQLiteReader
        var place = FeedPosition()
        var now: UInt64 = 1_000_000

        init(_ directory: String, eventBytes: Int? = nil) throws {
            var rules = StorageRules()
            rules.quotas.eventBytes = eventBytes
            let options = SQLiteOptions(path: directory + "/storage.db", synchronous: .off)
            writer = try StorageWriter(
                SQLiteWriter(options), rules: rules, now: StorageNow(wall: 0, steady: 0))
            reader = try SQLiteReader(options)
            place = try reader.eventFeeds(of: "app").values.first?.position ?? FeedPosition()
        }

        mutating func run(_ changes: any StorageChange...) -> WriteOutcome {
            writer.run(changes.map { StorageWrite($0) }, now: StorageNow(wall: now, steady: 0))
        }

        func feed(_ channels: [String], after place: FeedPosition, _ event: PublishedEntry.Event = .message)
            -> CollectedFeed
        {
            let next = FeedPosition(
                epoch: 7, sequence: place.offset + 1, partition: 1, offset: place.offset + 1)
            return CollectedFeed(
                appID: "app", shard: 0, after: place, next: next, gap: false,
                entries: channels.map { name in
                    let content = PublishedEntry(
                        channelType: .message, channel: name, timestampMilliseconds: now, event: event)
                    return .init(content: content, frame: [1, 2, 3])
                })
        }

        @discardableResult
        mutating func collect(_ channels: String..., event: PublishedEntry.Event = .message) -> Bool {
            let feed = feed(channels, after: place, event)
            let isKept = run(feed).collected.first?.isKept ?? false
            if isKept { place = feed.next }
            return isKept
        }

        func page(
            _ after: StreamPosition = StreamPosition(epoch: 0, offset: 0), types: UInt32 = 0,
            prefix: String = "", limit: Int = 100
        ) throws -> EventsResponse {
            try reader.eventPage(
                EventsRequest(appID: "app", after: after, types: types, channelPrefix: prefix), limit: limit)
        }

        func seen(_ response: EventsResponse) -> [String] {
            response.events.map { "\($0.type) \($0.key) \($0.number) @\($0.position.offset)" }
        }

        mutating func close() {
            reader.close()
            writer.close()
        }
    }

    private func with(_ body: (inout Fixture, String) throws -> Void) async throws {
        try await withDirectory { directory in
            var fixture = try Fixture(directory)
            try body(&fixture, directory)
            fixture.close()
        }
    }

    @Test("events are read in their order, page by page, and from the newest on")
    func pages() async throws {
        try await with { fixture, _ in
            fixture.collect("a", "b", "a")
            fixture.collect("a")
            let first = try fixture.page(limit: 3)
            #expect(fixture.seen(first) == ["message a 1 @1", "message b 1 @2", "message a 2 @3"])
            #expect(first.hasMore && first.events.allSatisfy { $0.position.epoch == first.next.epoch })
            let second = try fixture.page(first.next)
            #expect(fixture.seen(second) == ["message a 3 @4"] && !second.hasMore)
            #expect(second.events.first?.body == [1, 2, 3])
            #expect(try fixture.page(second.next).next == second.next)
            let newest = try fixture.reader.eventPage(
                EventsRequest(appID: "app", after: .init(epoch: 0, offset: 0), fromNewest: true), limit: 1)
            #expect(newest == EventsResponse(next: second.next))
        }
    }

    @Test("a type and a prefix select, and what isn't selected lies before the next position")
    func selection() async throws {
        try await with { fixture, _ in
            fixture.collect("news-1", "chat-1", "news-2")
            fixture.collect("news-1", event: .lock)
            let lock = UInt32(1) << UInt32(AppEventType.lock.rawValue)
            #expect(fixture.seen(try fixture.page(types: lock)) == ["lock news-1 2 @4"])
            let news = try fixture.page(prefix: "news-")
            #expect(news.events.map(\.position.offset) == [1, 3, 4])
            let none = try fixture.page(prefix: "x")
            #expect(none.events.isEmpty && none.next.offset == 4)
        }
    }

    @Test("a page that was kept isn't kept twice, and a failed transaction keeps neither events nor place")
    func once() async throws {
        try await with { fixture, _ in
            fixture.collect("a")
            let feed = fixture.feed(["a", "b"], after: fixture.place)
            #expect(fixture.run(feed).collected.first?.isKept == true)
            #expect(fixture.run(feed).collected.first?.isKept == false)
            #expect(fixture.run(feed, feed).eventsKept == 0)
            let offsets = try fixture.page().events.map(\.position.offset)
            #expect(offsets == [1, 2, 3])
        }
    }

    @Test("numbers and offsets go on after a restart, under a new epoch that continues the old one")
    func restart() async throws {
        try await withDirectory { directory in
            var fixture = try Fixture(directory)
            fixture.collect("a")
            let before = try fixture.page()
            fixture.close()
            fixture = try Fixture(directory)
            fixture.collect("a", "b")
            let after = try fixture.page(before.next)
            #expect(fixture.seen(after) == ["message a 2 @2", "message b 1 @3"])
            #expect(after.next.epoch != before.next.epoch)
            #expect(fixture.seen(try fixture.page()).count == 3)
            fixture.close()
        }
    }

    @Test("W-42: who has waited for the first event since before a restart gets no gap")
    func beforeTheFirst() async throws {
        try await withDirectory { directory in
            var fixture = try Fixture(directory)
            let nothing = fixture.feed([], after: fixture.place)
            #expect(fixture.run(nothing).collected.first?.isKept == true)
            let before = try fixture.page().next
            fixture.close()
            fixture = try Fixture(directory)
            fixture.collect("a")
            #expect(fixture.seen(try fixture.page(before)) == ["message a 1 @1"])
            fixture.close()
        }
    }

    @Test(
        "W-42: a position of a database that was replaced by its backup is a gap, though its offset is there")
    func restored() async throws {
        try await withDirectory { directory in
            var fixture = try Fixture(directory)
            fixture.collect("a")
            try SQLiteMaintenance.backup(directory + "/storage.db", to: directory + "/backup.db")
            fixture.close()
            fixture = try Fixture(directory)
            fixture.collect("a", "a")
            let lost = try fixture.page().next
            fixture.close()
            try SQLiteMaintenance.restore(
                directory + "/backup.db", to: directory + "/storage.db", replacing: true)
            fixture = try Fixture(directory)
            fixture.collect("b", "b", "b")
            let page = try fixture.page(lost)
            #expect(fixture.seen(page).first == "gap  0 @0")
            #expect(page.events.count == 5)
            fixture.close()
        }
    }

    @Test(
        "events go when their time is over, and a reader who was away for longer gets a gap, then what is kept"
    )
    func retention() async throws {
        try await with { fixture, _ in
            fixture.collect("a", "b")
            let early = try fixture.page(limit: 1).next
            fixture.now += 600_000
            fixture.collect("a")
            let cutoff = fixture.now - 300_000
            #expect(fixture.run(ExpiredEvents(cutoffs: ["app": cutoff], limit: 1)).eventsExpired == 1)
            #expect(fixture.run(ExpiredEvents(cutoffs: ["app": cutoff], limit: 9)).eventsExpired == 1)
            #expect(fixture.run(ExpiredEvents(cutoffs: ["app": cutoff], limit: 9)).eventsExpired == 0)
            #expect(fixture.seen(try fixture.page()) == ["message a 2 @3"])
            let late = try fixture.page(early)
            #expect(fixture.seen(late) == ["gap  0 @2", "message a 2 @3"])
            #expect(try fixture.page(late.events[0].position).events.map(\.type) == [.message])
            // Without events the app keeps nothing.
            #expect(fixture.run(ExpiredEvents(cutoffs: [:], limit: 9)).eventsExpired == 1)
            fixture.collect("b")
            // Its number begins anew, because nothing was known of the channel any more.
            #expect(fixture.seen(try fixture.page()) == ["message b 1 @4"])
        }
    }

    @Test("W-42: an app that has more events than its share loses the oldest before their time, as a gap")
    func share() async throws {
        try await withDirectory { directory in
            // An event of three bytes in a channel of one letter counts 68.
            var fixture = try Fixture(directory, eventBytes: 3 * 68)
            defer { fixture.close() }
            var writing = fixture
            writing.collect("a", "b")
            let early = try writing.page(limit: 1).next
            let cutoffs = ["app": UInt64(0)]
            #expect(writing.run(ExpiredEvents(cutoffs: cutoffs, limit: 9)).eventsExpired == 0)
            writing.collect("a", "b", "c")
            #expect(writing.run(ExpiredEvents(cutoffs: cutoffs, limit: 1)).eventsExpired == 1)
            #expect(writing.run(ExpiredEvents(cutoffs: cutoffs, limit: 9)).eventsExpired == 1)
            #expect(writing.run(ExpiredEvents(cutoffs: cutoffs, limit: 9)).eventsExpired == 0)
            #expect(
                writing.seen(try writing.page(early)) == [
                    "gap  0 @2", "message a 2 @3", "message b 2 @4", "message c 1 @5",
                ])
        }
    }

    @Test("W-43: a channel that is about to be vacated is remembered over a restart")
    func held() async throws {
        try await withDirectory { directory in
            var fixture = try Fixture(directory)
            fixture.collect("a", event: .presence(joined: ["ann"], left: [], timedOut: []))
            fixture.collect("a", event: .presence(joined: [], left: ["ann"], timedOut: []))
            let due = fixture.now + 5_000
            fixture.close()
            fixture = try Fixture(directory)
            #expect(fixture.run(EventSettlement(appID: "app", time: due - 1)).eventsKept == 0)
            let outcome = fixture.run(EventSettlement(appID: "app", time: due))
            #expect(outcome.eventsKept == 1 && outcome.newEvents == ["app": 4])
            #expect(fixture.run(EventSettlement(appID: "app", time: due)).eventsKept == 0)
            #expect(
                try fixture.page().events.map(\.type)
                    == [.channelOccupied, .channelJoined, .channelLeft, .channelVacated])
            fixture.close()
        }
    }
}
