import NIOCore
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMWebhookCall
import RTMWire
import Testing

@testable import RTMGatewayServer

@Suite("What a gateway does about a webhook, as the owner of its reader and while another gateway is")
struct WebhookDeliveryTests {
    private var delivery: WebhookDelivery
    private var random = SeededGenerator(seed: 1)

    init() throws {
        let record = WebhookRecord(
            app: "app", name: "hook", url: "https://example.com",
            secret: Secret("whsec_" + String(repeating: "A", count: 32)))
        delivery = try #require(WebhookDelivery(record, node: "gateway 1", WebhookQueue.Settings()))
    }

    private func time(_ milliseconds: Int) -> WebhookTime {
        WebhookTime(
            uptime: .uptimeNanoseconds(UInt64(milliseconds + 1_000_000) * 1_000_000),
            milliseconds: UInt64(milliseconds) + 1_700_000_000_000)
    }

    private mutating func actions(_ milliseconds: Int) -> [WebhookDelivery.Action] {
        delivery.actions(now: time(milliseconds), using: &random)
    }

    private mutating func alarm(_ milliseconds: Int) -> Int? {
        delivery.nextAlarm(now: time(milliseconds)).map {
            Int(($0 - time(0).uptime).nanoseconds / 1_000_000)
        }
    }

    private static func position(_ offset: UInt64) -> StreamPosition {
        StreamPosition(epoch: 1, offset: offset)
    }

    private static func page(_ offsets: ClosedRange<UInt64>) -> EventsResponse {
        let events = offsets.map { offset in
            AppEvent(
                position: position(offset), type: .channelOccupied, keyType: .message, key: "red",
                number: offset, timeMilliseconds: 1_700_000_000_000)
        }
        return EventsResponse(events: events, next: position(offsets.upperBound))
    }

    /// Claims the reader, and reads one page.
    private mutating func own(term: UInt64, at milliseconds: Int) {
        _ = actions(milliseconds)
        delivery.claimed(ReaderClaimed(term: term, position: Self.position(0)), now: time(milliseconds))
        _ = actions(milliseconds)
        delivery.received(Self.page(1...2), term: term, now: time(milliseconds))
    }

    @Test(
        "W-52: while another gateway is the owner it claims again, when the lease ends or after two seconds")
    mutating func claims() {
        let claim = WebhookDelivery.Action.claim(
            ClaimReader(appID: "app", name: "hook", node: "gateway 1", lease: .seconds(15)))
        var asked = (actions(0), actions(10))
        #expect(asked == ([claim], []), "one claim at a time")
        var now = 10
        for (wait, pause) in [(30_000, 2_000), (700, 700), (0, 100)] {
            delivery.claimed(
                ReaderClaimed(position: Self.position(0), owner: "b", wait: .milliseconds(wait)),
                now: time(now))
            asked = (actions(now + pause - 1), actions(now + pause))
            #expect(asked == ([], [claim]))
            now += pause
        }
        for pause in [100, 200, 400, 800, 1_600, 2_000, 2_000] {
            delivery.claimed(nil, now: time(now))
            asked = (actions(now + pause - 1), actions(now + pause))
            #expect(asked == ([], [claim]), "storage doesn't answer, as when a gateway has just started")
            now += pause
        }
        #expect(delivery.term == nil)
    }

    @Test("one alarm at a time has the next one set, so there aren't more of them with every event")
    mutating func alarms() {
        own(term: 3, at: 0)
        // Events that wait for others, and then the lease.
        let first = alarm(0)
        #expect(first == 50)
        var set: [NIODeadline] = []
        var random = SeededGenerator(seed: 2)
        var now = 0
        for _ in 0..<2_000 {
            now += 10
            let due = set.filter { $0 <= time(now).uptime }
            set.removeAll { $0 <= time(now).uptime }
            for deadline in due where delivery.rang(deadline) { act(now, &random) }
            if now % 100 == 0 {
                delivery.received(Self.page(UInt64(now)...UInt64(now)), term: 3, now: time(now))
                act(now, &random)
            }
            if let next = delivery.nextAlarm(now: time(now)) { set.append(next) }
        }
        #expect(set.count < 10, "\(set.count) alarms are set")
    }

    /// Does at once what is to be done, and all goes well.
    private mutating func act(_ milliseconds: Int, _ random: inout SeededGenerator) {
        for action in delivery.actions(now: time(milliseconds), using: &random) {
            switch action {
            case .deliver(let request, let term):
                delivery.answered(
                    request.id, WebhookAnswer(outcome: .status(200)), term: term, now: time(milliseconds),
                    using: &random)
            case .keep(_, let term): delivery.kept(true, term: term, now: time(milliseconds))
            case .read, .claim: break
            }
        }
    }

    @Test("the lease counts from when the claim was sent, so an owner that stood still does nothing")
    mutating func lease() {
        _ = actions(0)
        delivery.claimed(ReaderClaimed(term: 3, position: Self.position(0)), now: time(15_000))
        let asked = actions(15_000)
        #expect(asked.allSatisfy { if case .keep = $0 { true } else { false } })
        #expect(delivery.term == 3)
    }

    @Test("what was asked for in an earlier term and is answered now changes nothing")
    mutating func terms() {
        own(term: 3, at: 0)
        guard case .deliver(let request, 3)? = actions(100).first else {
            Issue.record("nothing is delivered")
            return
        }
        var isLost = delivery.kept(false, term: 2, now: time(150))
        #expect(!isLost)
        _ = actions(5_000)
        isLost = delivery.kept(false, term: 3, now: time(5_010))
        #expect(isLost)
        #expect(delivery.term == nil && delivery.oldest == nil)
        own(term: 7, at: 5_020)
        delivery.received(Self.page(3...9), term: 3, now: time(5_030))
        guard case .deliver(let again, 7)? = actions(5_200).first else {
            Issue.record("nothing is delivered again")
            return
        }
        #expect(again.events.map(\.position.offset) == [1, 2] && again.id == request.id)
        delivery.answered(
            request.id, WebhookAnswer(outcome: .status(200)), term: 3, now: time(5_210), using: &random)
        let kept = actions(20_000).compactMap { if case .keep(let keep, 7) = $0 { keep } else { nil } }
        #expect(kept.map(\.position) == [Self.position(0)], "the second request isn't answered")
    }

    @Test("a stop is over when the answers are kept, and a claim on its way is given up at once")
    mutating func stops() {
        _ = actions(0)
        delivery.stop()
        #expect(!delivery.isFinished, "the claim isn't answered")
        delivery.claimed(ReaderClaimed(term: 3, position: Self.position(0)), now: time(10))
        guard case .keep(let last, 3)? = actions(20).first else {
            Issue.record("the reader isn't given up")
            return
        }
        #expect(last.lease == .zero)
        let isLost = delivery.kept(true, term: 3, now: time(30))
        let left = (actions(40), alarm(40))
        #expect(!isLost && delivery.isFinished)
        #expect(left == ([], nil))
    }
}
