import Logging
import NIOCore
import NIOEmbedded
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire
import Testing

@testable import RTMPresenceServer

@Suite("What is kept of channels and forgotten when they are idle")
struct GenerationalCacheTests {
    private var table = GenerationalCache<String, Int>(lifetime: 100)

    @Test("what is idle is forgotten after one to two lifetimes, what is read or set is kept")
    mutating func fades() {
        table.forgetIdle(now: 1_000)
        for key in ["idle", "read", "set", "removed"] { table[key] = 1 }
        for now in stride(from: 1_000, through: 2_000, by: 50) as StrideThrough<UInt64> {
            table.forgetIdle(now: now)
            #expect(table["read"] == 1)
            table["set"] = Int(now)
            if now == 1_100 { table["removed"] = nil }
            if now == 1_150 { #expect(table.count == 3, "not before its time") }
            if now == 1_200 { #expect(table.count == 2) }
        }
        #expect(table["idle"] == nil && table["removed"] == nil)
        #expect(table["set"] == 2_000)
        table.removeAll()
        #expect(table.count == 0 && table["read"] == nil)
    }

    @Test("a node forgets where the log of an idle channel stood: another node may have seen it become empty")
    func positions() {
        let loop = EmbeddedEventLoop()
        let rules = StoreHarness.rules
        let settings = PresenceNode.Settings(
            messaging: [.inProcess(InProcessEndpoint(name: "messaging"))], link: ServiceLinkConfiguration(),
            states: rules.states, leaseTimeToLive: .seconds(15))
        let node = PresenceNode(
            settings, store: InMemoryPresenceStore(rules, source: 1) { 0 }, on: loop,
            metrics: PresenceMetrics(MetricsRegistry()), messagingProbe: nil,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        node.sweep()
        node.events.positions[.room] = StreamPosition(epoch: 1, offset: 2)
        loop.advanceTime(by: .minutes(59))
        node.sweep()
        #expect(node.events.positions.count == 1)
        for _ in 0..<2 {
            loop.advanceTime(by: .hours(1))
            node.sweep()
        }
        #expect(node.events.positions.count == 0)
    }

    @Test("a node forgets which events of an idle channel it was told when another node has seen its end")
    func announced() async throws {
        try await StoreHarness.with(.redis, .with { $0.leaseTimeToLive = 36_000_000 }) { first in
            try await first.withSecondNode { second in
                try await first.enter(.of("anna"))
                try await second.leave(.of("anna"))
                let last = try await second.numbered().last?.sequence ?? 0
                try await second.acknowledge(through: last)
                for _ in 0..<2 { try await second.sweep() }
                try await first.sweep()
                #expect(try await first.announcedChannels() == 1)
                for _ in 0..<2 { try await first.advance(3_600_000) }
                #expect(try await first.announcedChannels() == 0)
                // A store that forgot the channel starts from what is in Redis.
                try await first.enter(.of("anna", session: 2))
                #expect(try await first.events().last == .joined("anna", except: 2))
            }
        }
    }
}

extension StoreHarness {
    fileprivate func announcedChannels() async throws -> Int? {
        try await call { store, done in done(.success((store as? RedisPresenceStore)?.announcedChannels)) }
    }
}
