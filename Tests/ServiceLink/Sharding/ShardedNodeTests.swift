import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMServiceLink
import RTMTestSupport
import RTMWire
import Testing

/// What messaging nodes and storage nodes do alike.
@Suite("A node of a service of shards") struct ShardedNodeTests {
    private final class Shard: NodeShard {
        static var leaderPush: ServicePush<LeaderPush> { StorageMethod.leader }
        static var nodesPush: ServicePush<NodesPush> { StorageMethod.nodes }
        private(set) var links: [UInt64: AcceptedServiceLink] = [:]
        var nodes: NodesPush?

        func linkOpened(_ link: AcceptedServiceLink) { links[link.id] = link }
        func linkClosed(_ link: AcceptedServiceLink, _ reason: ServiceLinkDownReason) { links[link.id] = nil }
        func request(
            _ id: UInt64, method: UInt32, timeout: Duration, body: UnsafeRawBufferPointer,
            from link: AcceptedServiceLink
        ) {}
        func push(method: UInt32, body: UnsafeRawBufferPointer, from link: AcceptedServiceLink) {}
    }

    private struct Node: ShardedNode {
        let shards: [Shard]
    }

    @Test("each shard announces its leader to its own links, and the first one alone the nodes")
    func announcements() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let endpoint = InProcessEndpoint(name: "echo")
        let logs = [CallLog(), CallLog()]
        let node = try await loop.submit {
            NIOLoopBound(Node(shards: [Shard(), Shard()]), eventLoop: loop)
        }.get()
        var configuration = ServiceLinkServerConfiguration(service: "echo")
        configuration.spread(over: 2)
        let server = ServiceLinkServer(configuration, links: loop, logger: logger) {
            node.value.handler(of: $0)
        }
        server.listen(on: endpoint)
        let callers = try await loop.submit {
            logs.enumerated().map { shard, log in
                var configuration = ServiceLinkClientConfiguration(service: "echo", node: "tester")
                configuration.shard = shard
                let link = ServiceLinkClient(
                    configuration, toAnyOf: [.inProcess(endpoint)], endOfTurn: .shared(on: loop),
                    logger: logger)
                let caller = Caller(link, journal: log)
                link.start(delegate: caller)
                return NIOLoopBound(caller, eventLoop: loop)
            }
        }.get()
        try await eventually("both links are up") { logs.allSatisfy { $0.ups.map(\.shards) == [2] } }
        try await loop.submit {
            node.value.announce([NodeAddress(host: "a", port: 1)])
            node.value.shards[1].announce(LeaderPush(term: 7, follows: 6))
            #expect(node.value.shards.map { $0.nodes?.nodes.count } == [1, nil])
        }.get()
        try await eventually("both have a push") { logs.allSatisfy { !$0.answers.isEmpty } }
        let methods = logs.map { log in
            log.answers.compactMap { event -> UInt32? in
                if case .push(let method, _) = event { method } else { nil }
            }
        }
        #expect(methods == [[StorageMethod.nodes.number], [StorageMethod.leader.number]])
        try await loop.submit { for caller in callers { caller.value.link.shutdown() } }.get()
        await server.drain()
    }

    @Test("a caller has a link for each shard, so the limits of connections grow with them")
    func limits() {
        let one = ServiceLinkServerConfiguration(service: "echo")
        var four = one
        four.spread(over: 4)
        #expect(four.shards == 4 && four.linksMax == 4 * one.linksMax)
        #expect(four.unauthenticatedMax == 4 * one.unauthenticatedMax)
        #expect(four.unauthenticatedPerAddressMax == 4 * one.unauthenticatedPerAddressMax)
    }
}
