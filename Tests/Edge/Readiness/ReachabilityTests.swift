import Dispatch
import Logging
import RTMServiceKit
import Testing

@testable import RTMEdgeServer

/// What the loops of an edge say of their links, at the same time.
struct ReachabilityTests {
    private let loops = 4
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test("an edge is ready when all loops have their link, whichever of them said so first")
    func together() {
        for round in 0..<5_000 {
            let registry = ReadinessRegistry(logger: logger)
            let reachability = Reachability(
                loops: loops, messaging: registry.probe("messaging"), metrics: MetricsRegistry())
            DispatchQueue.concurrentPerform(iterations: loops) { _ in
                reachability.changed(.messaging, isUp: true)
            }
            guard registry.snapshot.isReady else {
                Issue.record("in round \(round) nobody said that all are there")
                return
            }
        }
    }

    @Test("what is missing of presence and storage is named with its cause, and decides nothing")
    func named() throws {
        let registry = ReadinessRegistry(logger: logger)
        let reachability = Reachability(
            loops: 1,
            probes: [
                .messaging: registry.probe("messaging"),
                .storage: registry.probe("storage", isRequired: false),
            ], metrics: MetricsRegistry())
        reachability.changed(.messaging, isUp: true)
        reachability.failed(.storage, "wrong secret")
        #expect(registry.snapshot.isReady)
        let missing = Readiness.Status.notReady("1 of 1 loops have no link to storage: wrong secret")
        #expect(registry.snapshot.probes.last?.status == missing)
        reachability.changed(.storage, isUp: true)
        #expect(registry.snapshot.probes.last?.status == .ready)
    }

    @Test("presence and storage decide nothing; one loop without messaging does")
    func dependencies() {
        let registry = ReadinessRegistry(logger: logger)
        let reachability = Reachability(
            loops: loops, messaging: registry.probe("messaging"), metrics: MetricsRegistry())
        for _ in 0..<loops { reachability.changed(.messaging, isUp: true) }
        reachability.changed(.presence, isUp: false)
        reachability.changed(.storage, isUp: false)
        #expect(registry.snapshot.isReady)
        reachability.changed(.messaging, isUp: false)
        #expect(registry.snapshot.isReady == false)
        reachability.changed(.messaging, isUp: true)
        #expect(registry.snapshot.isReady)
    }
}
