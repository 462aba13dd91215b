import RTMClient
import RTMModel

/// The result of a run of the bench.
struct BenchReport: Sendable {
    var plan: BenchPlan
    var total: BenchTotal
    /// The time from the first message to the last delivery.
    var elapsed: Duration
    /// The processor time of all `--server-pid` together; nil if none was given.
    var serverSeconds: Double?
    var cores: Int

    var deliveriesPerSecond: Double { rate(total.deliveries) }

    var serverSecondsPerMillion: Double? {
        guard total.deliveries > 0 else { return nil }
        return serverSeconds.map { $0 / Double(total.deliveries) * 1_000_000 }
    }

    /// Whether something was measured, and nothing was lost, doubled or out of order.
    var isSound: Bool { total.lost == 0 && total.faults == 0 && total.deliveries > 0 }

    private func rate(_ count: Int) -> Double {
        let seconds = elapsed / .seconds(1)
        return seconds > 0 ? Double(count) / seconds : 0
    }

    private func latency(_ share: Double) -> Double {
        total.latencies.quantile(share)?.milliseconds ?? .nan
    }

    /// The limits of the server that were met, the one that was met most often first.
    private var limits: [(RTMError.Limit, times: Int)] {
        total.putOff.map { ($0.key, $0.value) }.sorted { ($1.times, $0.0.name) < ($0.times, $1.0.name) }
    }

    var json: JSON {
        [
            "result": isSound ? "ok" : "faulty",
            "shape": .string(plan.name),
            "publishers": .number(plan.publishers),
            "subscribers": .number(plan.publishers * plan.subscribersEach),
            "payloadBytes": .number(plan.payloadBytes),
            "window": .number(plan.window),
            "seconds": .number(elapsed / .seconds(1), decimals: 3),
            "published": .number(total.published),
            "deliveries": .number(total.deliveries),
            "deliveriesPerSecond": .number(deliveriesPerSecond, decimals: 0),
            "latencyMillisecondsP50": .number(latency(0.5), decimals: 3),
            "latencyMillisecondsP99": .number(latency(0.99), decimals: 3),
            "lost": .number(total.lost),
            "outOfOrder": .number(total.faults),
            "limits": .array(
                limits.map { limit, times in
                    [
                        "name": .string(limit.name), "value": .number(limit.value),
                        "key": limit.key.map(JSON.string) ?? .null, "times": .number(times),
                    ]
                }),
            "serverSecondsPerMillionDeliveries":
                serverSecondsPerMillion.map { .number($0, decimals: 3) } ?? .null,
            "cores": .number(cores),
        ]
    }

    var sentence: String {
        let plural = plan.subscribersEach == 1 ? "" : "s"
        let server =
            serverSecondsPerMillion.map { "\($0.text(decimals: 3)) s per million deliveries" }
            ?? "not measured (--server-pid)"
        let rates = limits.map { limit, times in
            "\n  limited      by the server to \(limit.value) \(limit.name)"
                + "\(limit.key.map { " (\($0), or the app's own rate)" } ?? ""), met \(times) times"
        }
        let advice = limits.isEmpty ? "" : "; --rates-unlimited of the server lifts all rates, for measuring"
        return """
            \(plan.publishers) × (1 publisher → \(plan.subscribersEach) subscriber\(plural)), \
            \(plan.payloadBytes) bytes, window \(plan.window), \((elapsed / .seconds(1)).text(decimals: 2)) s
              deliveries   \(total.deliveries) (\(deliveriesPerSecond.text(decimals: 0)) per second)
              published    \(total.published) (\(rate(total.published).text(decimals: 0)) per second)
              latency      p50 \(latency(0.5).text(decimals: 3)) ms, p99 \(latency(0.99).text(decimals: 3)) ms
              lost         \(total.lost), out of order \(total.faults)\(rates.joined())\(advice)
              server CPU   \(server)
              cores        \(cores), shared by server and bench if they run on one machine
            """
    }
}

extension RTMError.Limit {
    /// The server's configuration key, where the limit is one of its rates.
    fileprivate var key: String? { RateLimit(rawValue: name)?.key }
}
