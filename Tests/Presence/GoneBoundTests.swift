import RTMServiceKit
import Testing

@testable import RTMPresenceServer

@Suite("When a user of an edge that died is gone for everybody")
struct GoneBoundTests {
    @Test("the bound: lease, longest timeout, a big channel's interval, three sweeps, and a claim in Redis")
    func bound() throws {
        let schema = ConfigurationSchema(PresenceKeys.own, section: "presence")
        let configuration = try ConfigurationLoader(schema: schema) { _ in "" }
            .load(
                arguments: ["--lease-ttl", "10s", "--interval", "20s", "--sweep-interval", "500ms"],
                environment: [:])
        #expect(PresenceDefinition.goneBound(configuration, overRedis: false) == 332)
        #expect(PresenceDefinition.goneBound(configuration, overRedis: true) == 337)
    }
}
