import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

@Suite("What may be published in all")
struct PublishRateTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test("R-13: a session's messages and bytes are counted over all channels; the refusal says when")
    func session() throws {
        let rate = PublishRate(messages: 100, bytes: 1_000_000)
        var budget = PublishBudget()
        for _ in 0..<100 {
            #expect(budget.shortage(1, rate, now: Self.start) == nil)
            budget.spend(1)
        }
        let shortage = try known(budget.shortage(1, rate, now: Self.start))
        #expect(shortage.limit == .sessionMessages)
        #expect(shortage.error.code == .channelPublishMessageTooFrequent)
        #expect(shortage.error.limit == .init(name: "messages per second of a session", value: 100))
        #expect(shortage.wait > .milliseconds(9) && shortage.wait <= .milliseconds(11))
        #expect(budget.shortage(1, rate, now: Self.start + shortage.wait) == nil)
        let later = Self.start + .hours(1)
        for _ in 0..<30 {
            #expect(budget.shortage(32_768, rate, now: later) == nil)
            budget.spend(32_768)
        }
        let bytes = try known(budget.shortage(32_768, rate, now: later))
        #expect(bytes.limit == .sessionBytes)
        #expect(bytes.error.limit == .init(name: "message bytes per second of a session", value: 1_000_000))
        #expect(budget.shortage(1, rate, now: later) == nil)
        #expect(budget.shortage(32_768, rate, now: later + bytes.wait) == nil)
    }

    @Test("R-13: a message of every size passes after a rest, however low the rate of bytes is")
    func biggestMessage() {
        var budget = PublishBudget()
        let rate = PublishRate(messages: 0, bytes: 10)
        #expect(budget.shortage(Limits.messageBytesMax, rate, now: Self.start) == nil)
    }

    @Test("R-14: the loops of an edge share the rate of an app, and together never exceed it")
    func loops() {
        for seed in 0..<20 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let app = AppPublishRate(PublishRate(messages: 1_000, bytes: 1_000_000))
            let loops = (0..<4).map { _ in AppPublishShare(of: app) }
            var now = Self.start
            var messages = 0
            var bytes = 0
            for _ in 0..<5_000 {
                let loop = loops[.random(in: 0..<4, using: &random)]
                let count = Int.random(in: 0...4_000, using: &random)
                if loop.shortage(count, now: now) == nil {
                    loop.spend(count)
                    messages += 1
                    bytes += count
                }
                now = now + .microseconds(.random(in: 0...400, using: &random))
                let seconds = Double((now - Self.start).nanoseconds) / 1e9
                #expect(Double(messages) <= 1_000 * (1 + seconds) + 1, "seed \(seed)")
                #expect(Double(bytes) <= 1_000_000 * (1 + seconds) + 1, "seed \(seed)")
            }
            // What is permitted is not lost between the loops.
            let seconds = Double((now - Self.start).nanoseconds) / 1e9
            #expect(
                messages >= Int(900 * seconds) || bytes >= Int(900_000 * seconds), "seed \(seed)")
        }
    }

    @Test("R-13, R-14: a client is told which rate it exceeds; what it sends again isn't called unpublished")
    func refusals() throws {
        let rates = ApplicationRates(
            publish: 0, calls: 0, subscribesMax: 0, login: 0, subscriptionsMax: 50,
            sessionPublish: PublishRate(messages: 3, bytes: 0), appPublish: PublishRate(messages: 5, bytes: 0)
        )
        let fixture = EdgeFixture(rates: rates)
        defer { fixture.end() }
        let (anna, bob) = (fixture.client("anna", instance: 7), fixture.client("bob"))
        for number in 1...3 as ClosedRange<UInt64> {
            #expect(Self.publish(anna, number) == nil)
        }
        let session = try #require(Self.publish(anna, 4))
        #expect(session.code == .errorChannelPublishMessageTooFrequent)
        #expect(session.limit.name == "messages per second of a session" && session.retryAfterMs > 0)
        let again = try #require(Self.publish(anna, 5, again: true))
        #expect(again.code == .errorChannelPublishMessageFailed && again.retryAfterMs > 0)
        for number in 1...2 as ClosedRange<UInt64> { #expect(Self.publish(bob, number) == nil) }
        let app = try #require(Self.publish(bob, 3))
        #expect(app.limit.name == "messages per second of an app" && app.limit.value == 5)
        fixture.pass(.seconds(1))
        #expect(Self.publish(bob, 4) == nil)
    }

    /// Publishes to a channel of its own; returns the refusal.
    private static func publish(
        _ client: EdgeClient, _ number: UInt64, again: Bool = false
    ) -> Rtm_Client_Error? {
        client.send(
            100 + number,
            .publish(
                .with {
                    ($0.channelType, $0.channel, $0.messageType) = (.message, "room \(number)", .text)
                    ($0.sequence, $0.again) = (again ? number : 0, again)
                }))
        for body in client.bodies() {
            if case .error(let error) = body { return error }
        }
        return nil
    }
}

/// As `#require`, which doesn't take mutating calls.
private func known<Value>(_ value: Value?) throws -> Value { try #require(value) }
