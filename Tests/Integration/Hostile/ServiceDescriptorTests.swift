import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// A crowd before the ports of the services, which knows no secret and takes all the descriptors it can get.
@Suite(.serialized) struct ServiceDescriptorTests {
    private static let services = ["messaging", "presence", "storage"]

    @Test(
        "services whose descriptors a crowd wants to use up serve their callers, answer and don't spin",
        arguments: [256, 1_024])
    func crowd(limit: Int) async throws {
        try await RunningSystem.with(.fourProcesses, entrance: Self.limited(to: limit)) { system in
            try await system.withClients("alice", "bob") { clients in
                var received = clients[1].events().makeAsyncIterator()
                try await clients[1].subscribe(to: "lobby", features: .message)
                let crowd = SilentCrowd()
                let pids = try Self.services.map { try system.process("rtm-\($0)").pid }
                for service in Self.services {
                    try await crowd.gather(limit / 8, from: 12, before: system.address(service))
                }
                let spent = try await ProcessorTime.of(pids, during: .seconds(2))
                for (service, seconds) in zip(Self.services, spent) {
                    #expect(seconds < 0.8, "\(service) spins")
                    let live = try await system.get("http://\(system.address("rtm-\(service) admin"))/live")
                    #expect(live.status == 200)
                }
                try await clients[0].publish("still here", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("still here"))
                // Another edge needs new links to all of them.
                try await system.launchEdge()
                try await system.ready()
                try await system.withClients("carol") { carol in
                    try await carol[0].publish("hello", to: .channel("lobby"))
                    #expect(await received.nextMessage()?.payload == .text("hello"))
                }
                for service in Self.services {
                    #expect(try !system.process("rtm-\(service)").hasExited)
                }
                await crowd.leave()
            }
        }
    }

    @Test("a gateway whose descriptors a crowd wants to use up answers as soon as the crowd's time is over")
    func gateway() async throws {
        try await GatewaySystem.with(
            .standalone, ["--idle-timeout", "3s"], entrance: Self.limited(to: 384)
        ) { gateway in
            let system = gateway.system
            let crowd = SilentCrowd()
            // Neither port takes all descriptors by itself.
            try await crowd.gather(15, from: 12, before: system.address("edge"))
            try await crowd.gather(40, from: 12, before: system.address("gateway"))
            let process = try system.process("rtm-standalone")
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.pid)/fd").count
            #expect(open < 384 - 16, "some are kept for the process itself")
            let spent = try await ProcessorTime.of([process.pid], during: .seconds(1))
            #expect(spent[0] < 0.5)
            #expect(process.log.contains("no connections are accepted at gateway at "))
            let live = try await system.get("http://\(system.address("rtm-standalone admin"))/live")
            #expect(live.status == 200)
            try await system.withClients("alice") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "lobby", features: .message)
                let answer = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"channel": "lobby", "message": "still here"}"#)
                #expect(answer.status == 200)
                #expect(await received.nextMessage()?.payload == .text("still here"))
            }
            #expect(!process.hasExited)
            await crowd.leave()
        }
    }

    @Test("with as few descriptors as are enough, the oldest connections make room and the process lives")
    func few() async throws {
        try await withMessaging(descriptors: 128) { messaging in
            let listening = try await messaging.listening()
            let crowd = SilentCrowd()
            try await crowd.gather(20, from: 12, before: try #require(listening["messaging"]))
            let spent = try await ProcessorTime.of([messaging.pid], during: .seconds(2))
            #expect(spent[0] < 0.8)
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(messaging.pid)/fd").count
            #expect(open < 128 - 16)
            let admin = try await RunningSystem.get("http://\(listening["admin"] ?? "")/live")
            #expect(admin.body == "live\n")
            #expect(!messaging.hasExited)
            await crowd.leave()
        }
    }

    @Test("a process with too few descriptors doesn't start, and says how many it needs")
    func tooFew() async throws {
        try await withMessaging(descriptors: 120) { messaging in
            let status = try await messaging.exit()
            #expect(status == 2)
            #expect(messaging.log.contains("may have 120 descriptors"))
            #expect(messaging.log.contains("needs at least 128"))
            #expect(messaging.log.contains("LimitNOFILE"))
        }
    }

    private static func limited(to count: Int) -> [String] { ["prlimit", "--nofile=\(count):\(count)"] }

    private func withMessaging(
        descriptors: Int, _ body: (ServiceProcess) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let messaging = try ServiceProcess(
            "rtm-messaging", ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--threads", "2"],
            directory: directory, entrance: Self.limited(to: descriptors))
        defer { if !messaging.hasExited { messaging.signal(SIGKILL) } }
        try await body(messaging)
    }
}
