package import Logging

/// What a service of shards makes for each of them. Where there is only one, it has no number.
extension ServiceContext {
    package func logger(ofShard shard: Int, among shards: Int) -> Logger {
        var logger = logger
        if shards > 1 { logger[metadataKey: "shard"] = "\(shard)" }
        return logger
    }

    /// A readiness probe for each shard.
    package func probes(_ name: String, shards: Int) -> [ReadinessProbe] {
        (0..<shards).map { probe(shards == 1 ? name : "\(name) \($0)") }
    }
}
