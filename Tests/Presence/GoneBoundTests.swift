import RTMServiceKit
import Testing

@testable import RTMPresenceServer

@Suite("When a user of an edge that died is gone for everybody")
struct GoneBoundTests {
    @Test(
        "the bound: lease, longest timeout, a big channel's interval, three sweeps, and an ownership in Redis"
    )
    func bound() throws {
        let schema = ConfigurationSchema(PresenceKeys.declarations, section: "presence")
        let configuration = try ConfigurationLoader(schema: schema) { _ in "" }
            .load(
                arguments: ["--lease-ttl", "10s", "--interval", "20s", "--sweep-interval", "500ms"],
                environment: [:])
        #expect(PresenceDefinition.goneBound(configuration, overRedis: false) == 332)
        #expect(PresenceDefinition.goneBound(configuration, overRedis: true) == 337)
    }

    @Test("P-20: 50 users are told of one by one, in bigger channels every 30 s, leaves at once")
    func announceRules() throws {
        func rules(_ arguments: String...) throws -> AnnounceRules {
            let schema = ConfigurationSchema(PresenceKeys.declarations, section: "presence")
            let loader = ConfigurationLoader(schema: schema) { _ in "" }
            return PresenceRules(try loader.load(arguments: arguments, environment: [:])).announce
        }
        let unset = try rules()
        #expect(unset == AnnounceRules(announceMax: 50, interval: 30_000, debounce: 0))
        for (count, seconds) in [(8, 5), (128, 300)] {
            let set = try rules(
                "--announce-max", "\(count)", "--interval", "\(seconds)s", "--debounce", "2s")
            #expect(
                set
                    == AnnounceRules(announceMax: count, interval: UInt64(seconds) * 1_000, debounce: 2_000))
        }
        #expect(throws: (any Error).self) { _ = try rules("--interval", "301s") }
    }
}
