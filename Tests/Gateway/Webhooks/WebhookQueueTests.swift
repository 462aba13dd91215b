import NIOCore
import RTMModel
import RTMTestSupport
import RTMWebhookCall
import Testing

@testable import RTMGatewayServer

@Suite("What a webhook delivers, retries and gives up")
struct WebhookQueueTests {
    private struct World {
        var random = SeededGenerator(seed: 1)
        var queue: WebhookQueue
        var milliseconds = 0
        /// What storage was asked to keep, and whether it answers at once that it is kept.
        var keeps: [WebhookProgress] = []
        var isKept = true
        private var offset = 0

        init(_ settings: WebhookQueue.Settings = .init(), journal: WebhookJournal? = nil) {
            queue = WebhookQueue(after: Self.place(0), journal, settings, now: Self.time(0))
        }

        static func place(_ offset: Int) -> StreamPosition { .init(epoch: 7, offset: UInt64(offset)) }

        static func time(_ milliseconds: Int) -> WebhookTime {
            WebhookTime(
                uptime: .uptimeNanoseconds(UInt64(milliseconds + 1_000) * 1_000_000),
                milliseconds: UInt64(milliseconds) + 1_700_000_000_000)
        }

        var now: WebhookTime { Self.time(milliseconds) }

        mutating func actions(after wait: Int = 0) -> [WebhookQueue.Action] {
            milliseconds += wait
            let actions = queue.actions(now: now, using: &random)
            for case .keep(let progress) in actions {
                keeps.append(progress)
                if isKept { queue.kept(true, now: now) }
            }
            return actions
        }

        /// Reads events of these keys, one of each.
        mutating func read(_ keys: String, bytes: Int = 1) {
            let events = keys.map { key in
                offset += 1
                return WebhookEvent(
                    position: Self.place(offset), key: "\(key)", milliseconds: now.milliseconds,
                    body: String(repeating: "x", count: bytes))
            }
            queue.received(events, next: Self.place(offset), now: now)
        }

        /// The requests that are sent now, each as the keys of its events.
        mutating func requests(after wait: Int = 100) -> [WebhookRequest] {
            actions(after: wait).compactMap { if case .deliver(let request) = $0 { request } else { nil } }
        }

        /// The last that storage was asked to keep.
        mutating func keep(after wait: Int = 0) -> WebhookProgress? {
            _ = actions(after: wait)
            return keeps.last
        }

        mutating func answer(
            _ request: WebhookRequest?, _ outcome: WebhookAnswer.Outcome, retryAfter: Int64? = nil
        ) {
            guard let request else { return }
            var answer = WebhookAnswer(outcome: outcome)
            answer.retryAfter = retryAfter.map { .seconds($0) }
            queue.answered(request.id, answer, now: now, using: &random)
        }
    }

    private func keys(_ requests: [WebhookRequest]) -> [String] {
        requests.map { $0.events.map(\.key).joined() }
    }

    @Test("W-52: what storage may have kept isn't taken back, however many dead letters wait behind it")
    func notTakenBack() {
        var reader = WebhookReader(
            at: World.place(9), WebhookJournal(), lease: .seconds(15), now: World.time(0).uptime)
        func give(up offsets: ClosedRange<Int>) {
            for offset in offsets {
                let event = WebhookEvent(
                    position: World.place(offset), key: "a", milliseconds: 0, body: "")
                reader.add(.init(event: event, reason: "refused"))
            }
        }
        func progress(through offset: Int, at milliseconds: Int) -> WebhookProgress? {
            reader.progress(
                through: World.place(offset), isIdle: true, failing: .init(),
                now: World.time(milliseconds).uptime)
        }
        give(up: 10...13)
        #expect(progress(through: 13, at: 1_000)?.position == World.place(13))
        reader.kept(nil, now: World.time(1_000).uptime)
        give(up: 14...160)
        let second = progress(through: 160, at: 3_000)
        #expect(second?.position == World.place(13) && second?.letters.count == WebhookProgress.lettersMax)
        reader.kept(true, now: World.time(3_000).uptime)
        #expect(progress(through: 160, at: 4_000)?.position == World.place(160))
    }

    @Test("events share a request by count, bytes and age; a key is in one request at a time")
    func batches() {
        var settings = WebhookQueue.Settings()
        (settings.batchEvents, settings.batchBytes, settings.parallel) = (3, 10, 2)
        var world = World(settings)
        world.read("ab")
        #expect(world.requests(after: 0) == [], "they wait for others")
        #expect(world.queue.wake(now: world.now) == world.now.uptime + settings.batchAge)
        #expect(keys(world.requests(after: 50)) == ["ab"])
        world.read("acd")
        #expect(world.requests(after: 0) == [], "a waits for its own, and the others aren't old")
        world.read("e")
        #expect(keys(world.requests(after: 0)) == ["cde"])
        world.read("f")
        #expect(world.requests() == [], "two requests at once")

        var large = World(settings)
        large.read("a", bytes: 20)
        large.read("bc", bytes: 6)
        #expect(keys(large.requests()) == ["a", "b"], "one event may be larger than a request")
    }

    @Test("a failed request holds up its keys alone, and each is tried alone")
    func keyByKey() {
        var world = World()
        world.read("ab")
        world.answer(world.requests().first, .status(500))
        world.read("ca")
        for request in world.requests(after: 60) { world.answer(request, .status(200)) }
        var tried: [String] = []
        for _ in 0..<100 {
            for request in world.requests(after: 100) {
                tried += keys([request])
                world.answer(request, .status(200))
            }
        }
        #expect(Set(tried).isSubset(of: ["a", "b", "c"]), "\(tried)")
        #expect(world.queue.oldest == nil)
    }

    @Test("in an outage one request at a time asks, with pauses of full jitter up to the longest")
    func outage() {
        var settings = WebhookQueue.Settings()
        settings.batchEvents = 1
        var world = World(settings)
        world.read("abcdefgh")
        let first = world.requests()
        #expect(first.count == 8)
        for request in first { world.answer(request, .noConnection("refused")) }
        #expect(world.queue.isInOutage)
        var pauses: [Int] = []
        var since = world.milliseconds
        while pauses.count < 40 {
            let requests = world.requests(after: 10)
            guard let request = requests.first else { continue }
            #expect(requests.count == 1)
            pauses.append(world.milliseconds - since)
            since = world.milliseconds
            world.answer(request, .status(503))
        }
        #expect(pauses.allSatisfy { $0 <= 60_020 })
        #expect(pauses.suffix(30).contains { $0 > 30_000 } && pauses.suffix(30).contains { $0 < 15_000 })
        while true {
            if let request = world.requests(after: 10).first {
                world.answer(request, .status(200))
                break
            }
        }
        #expect(!world.queue.isInOutage)
        #expect(world.requests().count == 7, "all others follow at once")
    }

    @Test("Retry-After is waited for, but no longer than an hour", arguments: [(120, 120), (86_400, 3_600)])
    func retryAfter(asked: Int64, waited: Int) {
        var settings = WebhookQueue.Settings()
        settings.lease = .hours(24)
        var world = World(settings)
        world.read("a")
        world.answer(world.requests().first, .status(429), retryAfter: asked)
        #expect(world.requests(after: waited * 1_000 - 1) == [])
        #expect(world.requests(after: 1).count == 1)
    }

    @Test(
        "after its time an event becomes a dead letter, its position is kept with it, and its key continues")
    func deadLetter() throws {
        var settings = WebhookQueue.Settings()
        (settings.giveUpAfter, settings.lease) = (.minutes(10), .hours(24))
        var world = World(settings)
        world.read("ab")
        world.answer(world.requests().first, .status(500))
        world.milliseconds += 300_000
        world.read("a")
        for request in world.requests(after: 300_000) {
            world.answer(request, request.events[0].key == "b" ? .status(200) : .status(422))
        }
        let next = world.requests(after: 1_000)
        #expect(next.map { $0.events.map(\.position) } == [[World.place(3)]])
        let progress = try #require(world.keeps.last)
        #expect(progress.position == World.place(2))
        #expect(progress.letters.map(\.event.position) == [World.place(1)])
        #expect(
            progress.letters[0].reason == "not delivered in 600 s of attempts, at last: answered with 422")
    }

    @Test("the time of an event begins with its first attempt, and a takeover doesn't begin it anew")
    func takeover() throws {
        var settings = WebhookQueue.Settings()
        (settings.giveUpAfter, settings.lease) = (.minutes(10), .hours(24))
        var world = World(settings)
        world.read("ab")
        world.milliseconds = 3_600_000
        for request in world.requests() { world.answer(request, .status(500)) }
        for request in world.requests(after: 1_000) { world.answer(request, .status(500)) }
        let kept = world.keep(after: 1_000)
        let progress = try #require(kept)
        #expect(progress.letters == [], "it is old, but has just been tried")

        var next = World(settings, journal: progress.journal)
        next.milliseconds = world.milliseconds + 600_000
        next.read("a")
        next.answer(next.requests().first, .status(500))
        #expect(next.keep(after: 1_000)?.letters == [], "the event happened later")
        next.queue = WebhookQueue(after: World.place(0), progress.journal, settings, now: next.now)
        next.queue.received(
            [
                WebhookEvent(
                    position: World.place(1), key: "a", milliseconds: World.time(0).milliseconds, body: "x")
            ], next: World.place(1), now: next.now)
        next.answer(next.requests().first, .status(500))
        #expect(next.keep(after: 1_000)?.letters.map(\.event.position) == [World.place(1)])
    }

    @Test("410 ends the webhook, and whoever takes over knows it")
    func gone() throws {
        var world = World()
        world.read("a")
        world.answer(world.requests().first, .status(410))
        let kept = world.keep(after: 1_000)
        let progress = try #require(kept)
        #expect(progress.position == World.place(0))
        #expect(progress.journal.isEnded && progress.journal.attempts.map(\.status) == [410])
        world.read("b")
        #expect(world.requests(after: 1_000) == [])
        var next = World(journal: progress.journal)
        #expect(next.actions() == [], "it reads nothing")
        #expect(next.keep(after: 5_000) != nil, "and keeps its ownership")
    }

    @Test("who is superseded stops at once, and who can't renew the lease stops when it ends")
    func lease() {
        var world = World()
        world.read("a")
        world.answer(world.requests().first, .status(200))
        world.isKept = false
        #expect(world.keep(after: 1_000)?.position == World.place(1))
        world.queue.kept(nil, now: world.now)
        world.read("b")
        #expect(world.requests(after: 500).count == 1, "the lease still lasts")
        world.read("c")
        world.milliseconds += 15_000
        #expect(world.requests() == [])
        world.queue.kept(nil, now: world.now)
        #expect(world.requests(after: 1_000) == [], "asked anew, and not answered yet")
        world.queue.kept(true, now: world.now)
        #expect(world.requests().count == 1, "the term was still the owner's")
        world.read("d")
        world.milliseconds += 5_000
        _ = world.actions()
        world.queue.kept(false, now: world.now)
        #expect(world.queue.isSuperseded && world.actions(after: 60_000) == [])
    }

    @Test("a full window gives up the event that holds it up, and nothing else")
    func fullWindow() {
        var settings = WebhookQueue.Settings()
        (settings.lease, settings.batchEvents) = (.hours(100), 1_000)
        var world = World(settings)
        world.read("x")
        world.answer(world.requests().first, .status(500))
        var others = 0
        var letters: [WebhookProgress.Letter] = []
        for _ in 0..<400 where letters.isEmpty {
            if others < WebhookWindow.eventsMax - 1 {
                world.read(String(repeating: "y", count: 100))
                others += 100
            }
            for request in world.requests(after: 1_000) {
                world.answer(request, request.events[0].key == "x" ? .status(500) : .status(200))
            }
            letters = world.keeps.flatMap(\.letters)
        }
        #expect(letters.map(\.event.key) == ["x"])
        #expect(world.keep(after: 1_000)?.position == World.place(others + 1))
    }

    @Test("the last 25 attempts are kept, with what was answered")
    func attempts() throws {
        var world = World()
        for number in 0..<30 {
            world.read("a")
            let requests = world.requests()
            let request = try #require(requests.first)
            var answer = WebhookAnswer(outcome: .status(200), start: "answer \(number)")
            answer.duration = .milliseconds(7)
            world.queue.answered(request.id, answer, now: world.now, using: &world.random)
        }
        let attempts = world.queue.journal.attempts
        #expect(attempts.map(\.answer) == (5..<30).map { "answer \($0)" })
        #expect(attempts.allSatisfy { $0.status == 200 && $0.milliseconds == 7 && $0.events == 1 })
    }
}
