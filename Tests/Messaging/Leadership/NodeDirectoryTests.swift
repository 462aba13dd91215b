import NIOCore
import RTMServiceKit
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMMessagingServer

@Suite("The messaging nodes that a caller knows") struct NodeDirectoryTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func node(_ port: UInt32) -> NodeAddress { NodeAddress(host: "10.0.0.1", port: port) }

    private func address(_ port: Int) -> ServiceLinkAddress { .tcp(host: "10.0.0.1", port: port) }

    private func known(_ ports: Int...) -> NodeDirectory { NodeDirectory(configured: ports.map(address)) }

    @Test("a caller connects once to each node that it hears of, and not again to those that it knew")
    func fresh() {
        var known = known(1)
        let fresh = known.received([node(1), node(3), node(2), node(3)], now: start)
        #expect(fresh.map { "\($0)" } == ["10.0.0.1:2", "10.0.0.1:3"])
        let again = known.received([node(1), node(2), node(3)], now: start)
        #expect(again.isEmpty)
    }

    @Test("a node that no list names is given up after a minute, and is new when it comes back")
    func gone() {
        var known = known(1)
        _ = known.received([node(1), node(2)], now: start)
        let isGone1 = known.removeUnlisted(address(2), now: start + .hours(1))
        #expect(!isGone1, "the newest list names it")
        _ = known.received([node(1)], now: start)
        _ = known.received([], now: start + .seconds(59))
        let isGone2 = known.removeUnlisted(address(2), now: start + .seconds(59))
        #expect(!isGone2)
        let isGone3 = known.removeUnlisted(address(2), now: start + .seconds(60))
        #expect(isGone3)
        let found4 = known.received([node(2)], now: start + .seconds(61))
        #expect(found4.count == 1)
    }

    @Test("a node that was paused, and is named again, stays")
    func paused() {
        var known = known(1)
        _ = known.received([node(2)], now: start)
        _ = known.received([], now: start)
        _ = known.received([node(2)], now: start + .seconds(30))
        _ = known.received([], now: start + .seconds(40))
        let isGone5 = known.removeUnlisted(address(2), now: start + .seconds(99))
        #expect(!isGone5)
        let isGone6 = known.removeUnlisted(address(2), now: start + .seconds(100))
        #expect(isGone6)
    }

    @Test("a node that was configured is never given up")
    func configured() {
        var known = known(1)
        _ = known.received([node(1)], now: start)
        _ = known.received([], now: start)
        let isGone7 = known.removeUnlisted(address(1), now: start + .hours(24))
        #expect(!isGone7)
    }

    @Test("a list has no end of names, and the caller takes no more than it may")
    func limit() {
        var known = known(1)
        let many = (1...UInt32(2 * NodeDirectory.learnedMax)).map(node)
        let found8 = known.received(many, now: start)
        #expect(found8.count == NodeDirectory.learnedMax)
        let found9 = known.received(many, now: start)
        #expect(found9.isEmpty)
    }
}

@Suite("The names of messaging nodes") struct NodeNameTests {
    @Test(
        "a name says where the node is reached",
        arguments: [("10.0.0.1", 7720), ("messaging-2.example.org", 1), ("::1", 65_535)])
    func reached(host: String, port: Int) {
        let name = NodeName(HostPort(host: host, port: port))
        #expect(NodeName.address(of: name.text) == NodeAddress(host: host, port: UInt32(port)))
    }

    @Test(
        "a node that listens everywhere, or where the system chose, doesn't say where",
        arguments: [("0.0.0.0", 7720), ("::", 7720), ("10.0.0.1", 0)])
    func unreachable(host: String, port: Int) {
        #expect(NodeName.address(of: NodeName(HostPort(host: host, port: port)).text) == nil)
    }

    @Test(
        "what isn't the name of a node has no address",
        arguments: ["", "node-1", "/", "10.0.0.1/ab", "a:b/c"])
    func foreign(name: String) { #expect(NodeName.address(of: name) == nil) }
}

@Suite("The page of the shards") struct ShardsPageTests {
    @Test("it says who leads what")
    func json() {
        let page = ShardsPage(
            nodes: ["a:1/f"],
            shards: [
                .init(term: 7, channels: 3, tailBytes: 100, links: 2, backlogBytes: 0),
                .init(term: nil, channels: 0, tailBytes: 0, links: 1, backlogBytes: nil),
            ])
        #expect(
            page.json == #"{"nodes":["a:1/f"],"shards":[{"shard":0,"leads":true,"term":7,"channels":3,"#
                + #""tailBytes":100,"links":2,"backlogBytes":0},{"shard":1,"leads":false,"channels":0,"#
                + #""tailBytes":0,"links":1}]}"#)
    }
}
