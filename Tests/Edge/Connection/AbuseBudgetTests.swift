import NIOCore
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

@Suite("Who keeps exceeding a rate")
struct AbuseBudgetTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let refusals = Rate(perSecond: 100, burst: 5_000)
    private static let heartbeats = Rate(perSecond: 10, burst: 100)

    @Test("R-16: refusals are put up with for a while; who goes on is cut off")
    func refusals() {
        var abuseBudget = AbuseBudget()
        #expect(abuseBudget.isExceeded(0, Self.refusals, now: Self.start) == false)
        #expect(abuseBudget.isExceeded(5_000, Self.refusals, now: Self.start) == false)
        #expect(abuseBudget.isExceeded(1, Self.refusals, now: Self.start) == true)
        var patient = AbuseBudget()
        for second in 0..<1_000 as Range<Int64> {
            #expect(patient.isExceeded(100, Self.refusals, now: Self.start + .seconds(second)) == false)
        }
        var unlimited = AbuseBudget()
        #expect(unlimited.isExceeded(1_000_000, Rate(perSecond: 0), now: Self.start) == false)
    }

    @Test("R-16: heartbeats have a rate, and what exceeds it counts as refusals")
    func heartbeats() {
        var abuseBudget = AbuseBudget()
        for _ in 0..<5_100 { abuseBudget.heartbeat(Self.heartbeats, now: Self.start) }
        #expect(abuseBudget.isExceeded(0, Self.refusals, now: Self.start) == false)
        abuseBudget.heartbeat(Self.heartbeats, now: Self.start)
        #expect(abuseBudget.isExceeded(0, Self.refusals, now: Self.start) == true)
        // Ten a second for a quarter of an hour are nothing to complain about.
        var modest = AbuseBudget()
        for tenth in 0..<10_000 as Range<Int64> {
            let now = Self.start + .milliseconds(100 * tenth)
            modest.heartbeat(Self.heartbeats, now: now)
            #expect(modest.isExceeded(0, Rate(perSecond: 1, burst: 1), now: now) == false)
        }
    }

    @Test("R-16: a client that floods is told why and when to come back; before its login, too")
    func disconnected() throws {
        let rates = ApplicationRates(publish: 0, calls: 1, subscribesMax: 0, login: 0, subscriptionsMax: 50)
        let fixture = EdgeFixture(rates: rates)
        defer { fixture.end() }
        let anna = fixture.client("anna")
        #expect(try end(of: anna) { $0.send(10, .unsubscribe(.with { $0.channel = "lobby" })) } > 4_900)
        let bob = fixture.client("bob")
        #expect(try end(of: bob) { $0.send(10, .heartbeat(.init())) } > 5_000)
        let unauthenticated = EdgeClient(fixture)
        unauthenticated.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
        #expect(try end(of: unauthenticated) { $0.send(10, .logout(.init())) } > 4_900)
    }

    /// Sends until the edge ends the connection. Returns after how many requests it did.
    private func end(of client: EdgeClient, _ send: (EdgeClient) -> Void) throws -> Int {
        for count in 0..<20_000 {
            send(client)
            for case .disconnect(let reason) in client.bodies() {
                #expect(reason.code == .disconnectRateExceeded && reason.retryAfterMs == 10_000)
                return count
            }
        }
        throw RTMError(.invalidParameter, "it was never cut off")
    }
}
