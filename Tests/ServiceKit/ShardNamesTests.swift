import Logging
import NIOPosix
import RTMServiceKit
import Testing

/// How the parts of a service of shards are named for operators.
@Suite("Names of shards") struct ShardNamesTests {
    @Test(
        "probes and lines of a log have the number of the shard, and where there is only one they have none")
    func names() throws {
        // This handler keeps metadata, and nothing is logged here.
        let logger = Logger(label: "test") { StreamLogHandler.standardError(label: $0) }
        let readiness = ReadinessRegistry(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let context = ServiceContext(
            service: "relay",
            configuration: try ConfigurationLoader(schema: ConfigurationSchema([], section: "relay")) { _ in
                ""
            }
            .load(arguments: [], environment: [:]),
            logger: logger, metrics: MetricsRegistry(), readiness: readiness,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, certificates: CertificateReports())
        _ = context.probes("database", shards: 1)
        _ = context.probes("messaging", shards: 2)
        #expect(
            readiness.snapshot.probes.map(\.name) == [
                "relay database", "relay messaging 0", "relay messaging 1",
            ])
        #expect(context.logger(ofShard: 0, among: 1)[metadataKey: "shard"] == nil)
        #expect(context.logger(ofShard: 1, among: 2)[metadataKey: "shard"] == "1")
    }
}
