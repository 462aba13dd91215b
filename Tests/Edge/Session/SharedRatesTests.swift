import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

@Suite("What the loops of an edge count together")
struct SharedRatesTests {
    @Test("R-9: a user has one rate of logins, whichever loops the logins arrive on")
    func logins() throws {
        let rates = ApplicationRates(publish: 60, calls: 20, subscribesMax: 2, login: 2, subscriptionsMax: 50)
        let app = Application(id: "app", subscriptionsMax: 50, rates: rates)
        let shared = SharedRates([app])
        let one = EdgeFixture(rates: rates, sharedRates: shared)
        let other = EdgeFixture(rates: rates, sharedRates: shared)
        defer {
            one.end()
            other.end()
        }
        for _ in 0..<5 {
            one.client("anna").vanish()
            other.client("anna").vanish()
        }
        let late = EdgeClient(other)
        late.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
        late.send(2, .login(.with { ($0.appID, $0.userID) = ("app", "anna") }))
        let codes = late.bodies().compactMap { if case .error(let error) = $0 { error.code } else { nil } }
        #expect(codes == [.errorLoginRejected])
    }

    @Test("L-42: an app has so many sessions on all loops together, and a session that ends makes room")
    func sessions() throws {
        let rates = ApplicationRates.unlimited
        let app = Application(
            id: "app", subscriptionsMax: 50, rates: rates, sessionsMax: 2)
        let shared = SharedRates([app])
        let loops = [0, 1].map { _ in EdgeFixture(sharedRates: shared, sessionsMax: 2) }
        defer { for loop in loops { loop.end() } }
        let anna = loops[0].client("anna")
        _ = loops[1].client("bert")
        func refusal() -> RTMError? {
            do throws(RTMError) {
                try shared.sessions.enter(app)
                return nil
            } catch {
                return error
            }
        }
        let late = EdgeClient(loops[1])
        late.send(1, .hello(.with { ($0.versionMin, $0.versionMax) = (1, 1) }))
        late.send(2, .login(.with { ($0.appID, $0.userID) = ("app", "carol") }))
        let errors = late.bodies().compactMap { if case .error(let error) = $0 { error } else { nil } }
        #expect(errors.map(\.code) == [.errorLoginNoServerResources])
        #expect(errors.first?.retryAfterMs == 5_000)
        #expect(refusal()?.limit == .init(name: "sessions of an app", value: 2))
        anna.vanish()
        #expect(refusal() == nil)
    }

    @Test("a new configuration gives an app its new rate, and keeps what was used of a rate that stays")
    func reload() throws {
        func app(_ messages: Int) -> Application {
            var rates = ApplicationRates.unlimited
            rates.appPublish = PublishRate(messages: messages, bytes: 0)
            return Application(id: "app", subscriptionsMax: 50, rates: rates)
        }
        let now = NIODeadline.uptimeNanoseconds(1 << 40)
        let shared = SharedRates([app(1)])
        func canPublish() -> Bool {
            let share = AppPublishShare(of: shared.publishes(of: app(1)))
            guard share.shortage(1, now: now) == nil else { return false }
            share.spend(1)
            return true
        }
        #expect(canPublish() && !canPublish())
        shared.take([app(1)])
        #expect(!canPublish())
        shared.take([app(2)])
        #expect(canPublish())
    }
}
