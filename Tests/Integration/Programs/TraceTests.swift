import RTMClient
import RTMModel
import RTMTestSupport
import Testing

/// Traces of real processes, as a collector of OpenTelemetry gets them.
@Suite(.serialized) struct TraceTests {
    private static func options(_ collector: TraceCollector) -> [String] {
        ["--tracing-endpoint", collector.address, "--tracing-per-million", "1000000"]
    }

    @Test(
        "A publish is seen on its way through edge, messaging and edge, and a subscribe with what it asks for"
    )
    func wayOfAPublish() async throws {
        let collector = try await TraceCollector()
        try await RunningSystem.with(.fourProcesses, services: Self.options(collector)) { system in
            try await system.withClients("anna", "bob") { clients in
                try await clients[1].subscribe(to: "lobby")
                try await clients[0].publish("hi", to: .channel("lobby"))
                try await clients[0].setMetadata(["a": "b"], of: .channel("lobby"))
                _ = try? await clients[0].publish("nobody", to: .user("nobody"))
            }
            let publish = try await collector.trace(of: "publish", count: 4)
            let root = try #require(publish.first { $0.parent.isEmpty })
            let call = try #require(publish.first { $0.parent == root.id })
            let served = try #require(publish.first { $0.parent == call.id })
            let received = try #require(publish.first { $0.parent == served.id })
            #expect(
                [root, call, served, received].map(\.program) == [
                    "rtm-edge", "rtm-edge", "rtm-messaging", "rtm-edge",
                ])
            #expect(
                [call, served, received].map(\.name) == [
                    "messaging publish", "messaging publish", "messaging delivery",
                ])
            #expect([root, call, served, received].map(\.kind) == [2, 3, 2, 5])
            #expect(received.attributes["rtm.deliveries"] == "1")
            #expect(root.attributes["rtm.app"] == "dev" && root.attributes["rtm.request"] != nil)
            let login = try await collector.trace(of: "login", count: 3)
            #expect(Set(login.map(\.name)) == ["login", "messaging attach"])
            let subscribe = try await collector.trace(of: "subscribe", count: 5)
            #expect(Set(subscribe.map(\.name)).isSuperset(of: ["messaging attach", "presence join"]))
            let metadata = try await collector.trace(of: "writeMetadata", count: 3)
            #expect(Set(metadata.map(\.name)) == ["writeMetadata", "storage call"])
            try await eventually("what failed says so") {
                collector.spans.contains { $0.name == "publish" && $0.error == "channelReceiverOffline" }
            }
            // Names of users and channels, and what they say, stay out of traces.
            let texts = collector.spans.flatMap { [$0.name, $0.error ?? ""] + $0.attributes.values }
            #expect(
                !texts.contains { text in ["lobby", "anna", "bob", "nobody"].contains { text.contains($0) } })
        }
        await collector.end()
    }

    @Test("A collector that takes nothing holds up nobody, and what is lost is counted")
    func refusal() async throws {
        let collector = try await TraceCollector()
        collector.refuse()
        try await RunningSystem.with(.standalone, edge: Self.options(collector)) { system in
            try await system.withClients("anna") { clients in
                for number in 0..<50 { try await clients[0].publish("\(number)", to: .channel("lobby")) }
            }
            try await eventually("the lost spans are counted") {
                let page = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
                return page.body.split(separator: "\n").contains { line in
                    line.hasPrefix("rtm_tracing_spans_total{fate=\"dropped\"}")
                        && (line.split(separator: " ").last.flatMap { Int($0) } ?? 0) > 100
                }
            }
            let process = try system.process("rtm-standalone")
            try await eventually("it is said") {
                process.log.contains("the collector of traces takes nothing")
            }
            process.signal(15)
            #expect(try await process.exit() == 0)
        }
        await collector.end()
    }
}
