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
        let app = Application(id: "app", certificate: nil, subscriptionsMax: 50, rates: rates)
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
}
