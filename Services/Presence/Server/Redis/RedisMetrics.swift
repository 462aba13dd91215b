package import NIOCore
package import RTMRedis
import RTMServiceKit

extension RedisRedirection: MetricLabel {
    package static let labelName = "kind"
}

/// Counts what happens between a presence node and Redis.
package final class RedisMetrics: RedisObserver, Sendable {
    private let connections: Counter
    private let redirections: Family<RedisRedirection, Counter>
    private let masters: Gauge
    private let answers: Histogram

    init(_ registry: MetricsRegistry) {
        connections = registry.counter(
            "rtm_presence_redis_connections_total",
            "Connections to masters of Redis that came up. If it grows, connections get lost.")
        redirections = registry.counters(
            "rtm_presence_redis_redirections_total",
            "Commands that a Redis Cluster redirected or asked to come later, by kind. A few come with each move of a slot and each failover.",
            by: RedisRedirection.self)
        masters = registry.gauge(
            "rtm_presence_redis_masters", "Masters of Redis that are known. 0 means that none is found.")
        answers = registry.histogram(
            "rtm_presence_redis_answer_seconds",
            "From a command to the answer of Redis. Above 10 ms Redis or the network is too slow.")
    }

    package func redisConnected() { connections.increment() }
    package func redisRedirected(_ kind: RedisRedirection) { redirections[kind].increment() }
    package func redisHasMasters(_ count: Int) { masters.set(count) }
    package func redisAnswered(after time: TimeAmount) { answers.observe(Int(time.nanoseconds)) }
}
