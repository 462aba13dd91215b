import Foundation
import RTMTestSupport
import Synchronization

/// What happened when in a rolling restart, for the graph that `make bench WHAT=rolling` draws. It is written
/// down only where ROLLING_TIMELINE names a file.
final class RollingTimeline: Sendable {
    /// The counters of one edge, since its start.
    struct EdgeCounters: Sendable {
        var deliveries = 0
        var logins = 0
    }

    private let start = ContinuousClock.now
    /// Kind, seconds, value.
    private let lines = Mutex<[String]>([])
    private let file = ProcessInfo.processInfo.environment["ROLLING_TIMELINE"]

    private var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

    private func add(_ kind: String, _ value: String) {
        guard file != nil else { return }
        let line = String(format: "%@,%.3f,%@", kind, seconds, value)
        lines.withLock { $0.append(line) }
    }

    /// A process is told to stop.
    func stops(_ name: String) { add("stop", name) }

    func published(in time: Duration) { add("publish", String(format: "%.3f", time / .milliseconds(1))) }

    /// Storage refused somebody until now.
    func wasRefused(for time: Duration) {
        add("refused", String(format: "%.3f", time / .milliseconds(1)))
    }

    /// Asks the edges, by process, four times a second until `body` has returned. An edge that starts anew
    /// counts from 0.
    func watching(
        _ edges: @escaping @Sendable () async -> [Int32: EdgeCounters], during body: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.watch(edges) }
            try await body()
            group.cancelAll()
        }
    }

    private func watch(_ edges: () async -> [Int32: EdgeCounters]) async {
        guard file != nil else { return }
        var before: [Int32: EdgeCounters] = [:]
        while !Task.isCancelled {
            for (process, now) in await edges() {
                let last = before.updateValue(now, forKey: process) ?? EdgeCounters()
                add("deliveries", "\(now.deliveries - last.deliveries)")
                add("logins", "\(now.logins - last.logins)")
            }
            await letPass(.milliseconds(250))
        }
    }

    func write() throws {
        guard let file else { return }
        let text = lines.withLock { $0.joined(separator: "\n") + "\n" }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }
}

extension RollingTimeline.EdgeCounters {
    /// From an edge's page of metrics.
    init(_ metrics: String) {
        for line in metrics.split(separator: "\n") where !line.hasPrefix("#") {
            guard let value = line.split(separator: " ").last.flatMap({ Int($0) }) else { continue }
            if line.hasPrefix("rtm_edge_deliveries_total") { deliveries += value }
            if line.hasPrefix("rtm_edge_logins_total{outcome=\"ok\"}") { logins += value }
        }
    }
}
