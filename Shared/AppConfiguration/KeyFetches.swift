import Logging
package import NIOCore
import RTMAccessToken
package import RTMCredentials
package import RTMServiceKit
import Synchronization

/// The configuration keys of keys that are fetched, which every service has that lets users in.
package struct JWTKeyKeys: ServiceKeys {
    package static let table = Self()

    package let interval = ConfigurationKey<Duration>.duration(
        "tokens.keys.interval", default: .seconds(600), in: .seconds(1) ... .seconds(86_400),
        "How long after a fetch of jwtKeysURL the next one begins; max-age of its answer may shorten it, to a minute."
    )
    package let privateAddresses = ConfigurationKey<[String]>.list(
        "tokens.keys.privateAddresses", countMax: 100,
        "Networks such as 10.1.0.0/16 that a jwtKeysURL may lead to, beside public addresses; only there may it begin with http://."
    )
}

/// The keys that a service fetches, by URL, for all event loops of a process.
package final class KeyFetches: Service {
    /// Makes what gets a document.
    package typealias Make = @Sendable (HTTPURL, Configuration, any EventLoopGroup) -> any JWTKeyDownload

    package let name = "keys of JWTs"
    private let make: Make
    private let context: ServiceContext
    private let metrics: Metrics
    private let all = Mutex<[HTTPURL: FetchedKeys]>([:])
    private let probe = Mutex<ReadinessProbe?>(nil)

    package init(_ make: @escaping Make, _ context: ServiceContext, _ names: Names) {
        (self.make, self.context) = (make, context)
        metrics = Metrics(context.metrics, names)
    }

    /// The keys of a URL, which are fetched once the configuration is taken.
    func keys(at url: HTTPURL) -> FetchedKeys {
        all.withLock { all in
            if let kept = all[url] { return kept }
            var timing = JWTKeyRefresh.Timing()
            timing.interval = context.configuration[JWTKeyKeys.interval]
            timing.intervalMin = min(timing.intervalMin, timing.interval)
            let group: any EventLoopGroup = context.eventLoopGroup
            let made = FetchedKeys(
                url, make(url, context.configuration, group), timing, on: group.next(), context.logger
            ) { [weak self] in self?.changed($0) }
            all[url] = made
            return made
        }
    }

    /// Fetches the keys that the apps name, and no others any more.
    package func take(_ configuration: Configuration) {
        let named = Set(configuration[CommonKeys.apps].compactMap { $0.jwtKeysURL.flatMap { HTTPURL($0) } })
        let dropped = all.withLock { all in
            defer { all = all.filter { named.contains($0.key) } }
            return all.filter { !named.contains($0.key) }.values
        }
        for keys in dropped {
            // Unstructured: whoever takes a configuration can't wait for a fetch that is under way.
            Task { await keys.end() }
        }
        guard !named.isEmpty else { return report() }
        probe.withLock { probe in
            if probe == nil { probe = context.probe("keys of JWTs", isRequired: false) }
        }
        for keys in all.withLock({ Array($0.values) }) { keys.arm() }
        report()
    }

    package func shutdown(deadline: ContinuousClock.Instant) async {
        for keys in all.withLock({ Array($0.values) }) { await keys.end() }
    }

    private func changed(_ keys: FetchedKeys) {
        metrics.fetched(isOK: keys.problem == nil)
        report()
    }

    private func report() {
        let all = all.withLock { $0 }
        metrics.missing.set(all.values.count { $0.isEmpty })
        guard let probe = probe.withLock({ $0 }) else { return }
        let problems = all.compactMap { url, keys in keys.problem.map { (url.text, $0) } }
            .sorted { $0.0 < $1.0 }
        if let (url, problem) = problems.first(where: { !$0.1.hasKeys }) {
            probe.notReady("no keys from \(url): \(problem.cause)")
        } else if let (url, _) = all.first(where: { $0.value.isEmpty }) {
            probe.notReady("no keys from \(url.text) yet")
        } else {
            probe.ready(problems.first.map { "the keys of \($0.0) may be old: \($0.1.cause)" })
        }
    }

    /// The names of a service's metrics.
    package struct Names: Sendable {
        fileprivate let fetches, missing: String

        package static let edge = Names(
            fetches: "rtm_edge_jwt_key_fetches_total", missing: "rtm_edge_jwt_keys_missing")
        package static let gateway = Names(
            fetches: "rtm_gateway_jwt_key_fetches_total", missing: "rtm_gateway_jwt_keys_missing")
    }

    private struct Metrics: Sendable {
        private enum Outcome: String, MetricLabel {
            case fetched, failed
            static let labelName = "outcome"
        }

        private let fetches: Family<Outcome, Counter>
        let missing: Gauge

        init(_ registry: MetricsRegistry, _ names: Names) {
            fetches = registry.counters(
                names.fetches,
                "Fetches of keys of JWTs from the URLs of apps, by outcome. failed: no usable document; the "
                    + "keys at hand stay valid.",
                by: Outcome.self)
            missing = registry.gauge(
                names.missing,
                "URLs of keys of JWTs without a successful fetch yet: the JWTs of their apps are refused "
                    + "until then."
            )
        }

        func fetched(isOK: Bool) { fetches[isOK ? .fetched : .failed].increment() }
    }
}
