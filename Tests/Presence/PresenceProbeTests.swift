import Logging
import NIOEmbedded
import RTMServiceKit
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMPresenceServer

@Suite("What /ready names of presence")
struct PresenceProbeTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("messaging that refuses the node is the cause, before a first link and after its loss")
    func messaging() {
        let readiness = ReadinessRegistry(logger: logger)
        let rules = StoreHarness.rules
        let node = PresenceNode(
            PresenceNode.Settings(
                messaging: [.tcp(host: "127.0.0.1", port: 7720)], link: ServiceLinkConfiguration(),
                states: rules.states, leaseTimeToLive: .seconds(15)),
            store: InMemoryPresenceStore(rules, source: 1) { 0 }, on: EmbeddedEventLoop(),
            metrics: PresenceMetrics(MetricsRegistry()), messagingProbe: readiness.probe("messaging"),
            logger: logger)
        var status: Readiness.Status? { readiness.snapshot.probes.first?.status }
        #expect(status == .notReady("not started"))
        let router: any ShardRouterDelegate = node
        router.connectFailed(.goneAway(.init(.wrongSecret)))
        #expect(
            status
                == .notReady(
                    "no connection to messaging at 127.0.0.1:7720: the peer closed the link: the secrets differ"
                ))
        node.shardIsUp(0, isWhole: true)
        #expect(status == .ready)
        node.shardIsDown(0, .silent)
        #expect(
            status == .notReady("no connection to messaging at 127.0.0.1:7720: the peer fell silent"))
    }
}
