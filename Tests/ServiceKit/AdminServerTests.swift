import Foundation
import Logging
import NIOCore
import NIOPosix
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMServiceKit

@Suite("Admin port over a real socket")
struct AdminServerTests {
    /// The parts behind the pages that a test changes.
    private final class Inside: Sendable {
        let state = Mutex(LifecycleStateMachine.State.running)
        let pages = AdminPageRegistry()
        let readiness = ReadinessRegistry(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func withServer(
        requestDeadline: TimeAmount = .seconds(15), isLoopback: Bool = true,
        _ body: (HostPort, Inside) async throws -> Void
    ) async throws {
        let inside = Inside()
        let registry = MetricsRegistry()
        registry.counter("rtm_relay_frames_total", "Frames.").increment(by: 7)
        let configuration = try RelayKeys.load(["--redis-password", "tops3cret"])
        let pages = AdminPages(
            program: "rtm-relay", configuration: { configuration },
            metrics: registry, state: { inside.state.withLock { $0 } },
            readiness: { inside.readiness.snapshot }, others: inside.pages,
            started: NodeStart(milliseconds: 1_795_000_000_000), isLoopback: isLoopback)
        let server = AdminServer(
            address: HostPort(host: "127.0.0.1", port: 0), pages: pages,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, requestDeadline: requestDeadline)
        try await server.start()
        let address = try #require(server.address)
        try await body(address, inside)
        await server.stop()
        #expect(server.address == nil)
    }

    private func get(
        _ path: String, method: String = "GET", authorization: String? = nil, host: String = "127.0.0.1",
        more: String = "", at address: HostPort
    ) async throws -> (head: String, body: String) {
        let key = authorization.map { "Authorization: \($0)\r\n" } ?? ""
        let text = try await RawConnection.exchange(
            "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(more)\(key)Connection: close\r\n\r\n",
            with: address)
        let parts = text.components(separatedBy: "\r\n\r\n")
        return (parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    @Test("/node says in one answer what an operator looks at, without secrets")
    func node() async throws {
        try await withServer { address, inside in
            let probe = inside.readiness.probe("relay redis")
            probe.notReady("connection refused")
            inside.state.withLock { $0 = .running }
            let text = try await get("/node", at: address).body
            #expect(!text.contains("tops3cret"))
            let report = try NodeReport(json: Data(text.utf8))
            #expect(report.program == "rtm-relay" && report.since == 1_795_000_000_000 && !report.isReady)
            #expect(report.notReady == ["relay redis: connection refused"])
            #expect(report.total("rtm_relay_frames_total") == 7 && report.total("rtm_none") == 0)
            let password = try #require(report.settings.first { $0.key == "relay.redis.password" })
            #expect(password.source.contains("--redis-password") && !password.isDefault)
            #expect(report.settings.contains { $0.isDefault && $0.source == "default" })
            probe.ready()
            let ready = try NodeReport(json: Data(try await get("/node", at: address).body.utf8))
            #expect(ready.isReady && ready.notReady.isEmpty && ready.instance == report.instance)
        }
    }

    @Test("who asks and doesn't read the answer is cut off", arguments: ["close", "keep-alive"])
    func unread(connection: String) async throws {
        try await withServer(requestDeadline: .milliseconds(300)) { address, inside in
            inside.pages.page("/big").show(String(repeating: "x", count: 8 << 20))
            for _ in 0..<64 {
                let deaf = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .channelOption(.autoRead, value: false)
                    .connect(host: address.host, port: address.port).get()
                try? await deaf.writeAndFlush(
                    ByteBuffer(
                        string: "GET /big HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: \(connection)\r\n\r\n"))
            }
            try await eventually("their places are free again") {
                try await get("/live", at: address).head.hasPrefix("HTTP/1.1 200")
            }
        }
    }

    @Test("a page of the web in a browser of this machine reads and changes nothing")
    func browsers() async throws {
        try await withServer { address, _ in
            for host in ["localhost", "LOCALHOST:7711", "127.8.0.1", "[::1]:\(address.port)", "[::1]"] {
                #expect(try await get("/live", host: host, at: address).head.hasPrefix("HTTP/1.1 200 "))
            }
            for host in [
                "evil.example:\(address.port)", "127.0.0.1.evil.example", "127.evil", "10.0.0.1", "",
            ] {
                let answer = try await get("/node", host: host, at: address)
                #expect(answer.head.hasPrefix("HTTP/1.1 403 ") && answer.body.contains("use 127.0.0.1"))
            }
            let answer = try await get("/live", more: "Origin: http://127.0.0.1:8080\r\n", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 403 ") && answer.body.contains("(header Origin)"))
        }
        try await withServer(isLoopback: false) { address, _ in
            let answer = try await get("/live", host: "admin.example", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("/live answers 200 in every state")
    func live() async throws {
        try await withServer { address, inside in
            inside.state.withLock { $0 = .draining(until: .now, then: .ok) }
            let answer = try await get("/live", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(answer.body == "live\n")
        }
    }

    @Test(
        "a page of a service's own shows what the service has said last, and is named where a page is missing"
    )
    func ownPage() async throws {
        try await withServer { address, inside in
            #expect(try await get("/shelves", at: address).head.hasPrefix("HTTP/1.1 404"))
            let page = inside.pages.page("/shelves")
            page.show("[1]")
            page.show("[2]")
            let answer = try await get("/shelves", at: address)
            #expect(answer.head.contains("Content-Type: application/json") && answer.body == "[2]\n")
            #expect(try await get("/none", at: address).body.contains("/version, /shelves"))
        }
    }

    /// A page that shows the request it is made for.
    private func addMirror(_ inside: Inside, key: String?) {
        inside.pages.add(
            "/mirror",
            AdminRoute(methods: ["GET", "POST"], key: { key.map { Secret($0) } }, keyName: "relay.adminKey") {
                request in
                await Task.yield()
                let query = request.query.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                return .json(JSONText.quoted(([request.method] + query).joined(separator: " ")))
            })
    }

    @Test("a page that is made for each request gets its method and its query, decoded")
    func asked() async throws {
        try await withServer { address, inside in
            addMirror(inside, key: nil)
            let get = try await get("/mirror?user=a%20b+c%26&empty=&user=d&flag", at: address)
            #expect(get.head.contains("Content-Type: application/json"))
            #expect(get.body == "\"GET empty= flag= user=d\"\n")
            #expect(
                try await self.get("/mirror?user=a%20b+c%26", at: address).body == "\"GET user=a b c&\"\n")
            #expect(try await self.get("/mirror", method: "POST", at: address).body == "\"POST\"\n")
            let put = try await self.get("/mirror", method: "PUT", at: address)
            #expect(put.head.hasPrefix("HTTP/1.1 405 ") && put.head.contains("Allow: GET, POST"))
            #expect(put.body == "/mirror answers GET and POST only\n")
            #expect(try await self.get("/none", at: address).body.contains("/version, /mirror"))
        }
    }

    @Test("such a page needs its key where there is one, and where other machines reach the port")
    func key() async throws {
        let key = "0123456789abcdef"
        for isLoopback in [true, false] {
            try await withServer(isLoopback: isLoopback) { address, inside in
                addMirror(inside, key: key)
                #expect(try await get("/live", at: address).head.hasPrefix("HTTP/1.1 200 "))
                for wrong in [
                    nil, "Bearer", "Bearer \(key)0", "Bearer 0123456789abcdeg", "Basic \(key)", key,
                ] {
                    let answer = try await get("/mirror", authorization: wrong, at: address)
                    #expect(answer.head.hasPrefix("HTTP/1.1 401 "), "\(wrong ?? "none")")
                    #expect(answer.head.contains("WWW-Authenticate: Bearer"))
                    #expect(answer.body.contains("relay.adminKey") && !answer.body.contains(key))
                }
                for scheme in ["Bearer", "bearer", "Bearer "] {
                    let answer = try await get("/mirror", authorization: "\(scheme) \(key)", at: address)
                    #expect(answer.head.hasPrefix("HTTP/1.1 200 "))
                }
            }
        }
        try await withServer(isLoopback: false) { address, inside in
            addMirror(inside, key: nil)
            let answer = try await get("/mirror", authorization: "Bearer ", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 403 ") && answer.body.contains("Set relay.adminKey"))
        }
    }

    @Test("/ready says 503 with each probe's cause until all are ready, and again while draining")
    func ready() async throws {
        try await withServer { address, inside in
            let probe = inside.readiness.probe("relay link")
            probe.notReady("no connection to \"x\"")
            var answer = try await get("/ready?verbose", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 503 "))
            #expect(
                answer.body
                    == #"{"ready":false,"state":"running","probes":[{"name":"relay link","ready":false,"#
                    + #""cause":"no connection to \"x\""}]}"# + "\n")
            probe.ready()
            answer = try await get("/ready", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(
                answer.body
                    == #"{"ready":true,"state":"running","probes":[{"name":"relay link","ready":true}]}"#
                    + "\n"
            )
            probe.ready("the line is \"slow\"")
            answer = try await get("/ready", at: address)
            #expect(
                answer.body.contains(#"{"name":"relay link","ready":true,"note":"the line is \"slow\""}"#))
            probe.ready()
            #expect(!(try await get("/ready", at: address)).body.contains("note"))
            for state in [LifecycleStateMachine.State.starting, .draining(until: .now, then: .ok)] {
                inside.state.withLock { $0 = state }
                answer = try await get("/ready", at: address)
                #expect(answer.head.hasPrefix("HTTP/1.1 503 "))
                #expect(answer.body.contains("\"state\":\"\(state.name)\""))
            }
        }
    }

    @Test("a probe that isn't required is named with its cause, and the program is ready all the same")
    func optionalProbe() async throws {
        try await withServer { address, inside in
            inside.readiness.probe("relay depot", isRequired: false).notReady("no road")
            let answer = try await get("/ready", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(
                answer.body.contains(
                    #"{"name":"relay depot","ready":false,"required":false,"cause":"no road"}"#))
        }
    }

    @Test("/metrics, /config and /version answer in their formats, the configuration without secrets")
    func pages() async throws {
        try await withServer { address, _ in
            let metrics = try await get("/metrics", at: address)
            #expect(metrics.head.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8"))
            #expect(metrics.body.contains("\nrtm_relay_frames_total 7\n"))
            let configuration = try await get("/config", at: address)
            #expect(configuration.body.contains("    password: \"<masked>\"  # --redis-password\n"))
            #expect(!configuration.body.contains("tops3cret"))
            let version = try await get("/version", at: address)
            #expect(
                version.body.contains(
                    "\"name\":\"rtm-relay\",\"version\":\"\(BuildInformation.version)\",\"commit\":\""))
        }
    }

    @Test(
        "HEAD has the length of the body and no body; another method is 405 with Allow; another path is 404")
    func methods() async throws {
        try await withServer { address, _ in
            let head = try await get("/live", method: "HEAD", at: address)
            #expect(head.head.contains("Content-Length: 5"))
            #expect(head.body.isEmpty)
            let post = try await get("/live", method: "POST", at: address)
            #expect(post.head.hasPrefix("HTTP/1.1 405 "))
            #expect(post.head.contains("Allow: GET, HEAD"))
            let other = try await get("/livez", at: address)
            #expect(other.head.hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test("one connection serves several requests")
    func keepAlive() async throws {
        try await withServer { address, _ in
            let request = "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let last = "GET /version HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            let text = try await RawConnection.exchange(request + request + last, with: address)
            #expect(text.components(separatedBy: "HTTP/1.1 200 OK").count == 4)
        }
    }

    @Test(
        "garbage, endless headers and endless bodies end the connection",
        arguments: [
            "garbage\r\n\r\n", "GET /live HTTP/1.1\r\nX: \(String(repeating: "x", count: 40_000))",
            "GET /live HTTP/1.1\r\n\(String(repeating: "X: y\r\n", count: 400))",
            "POST /live HTTP/1.1\r\nContent-Length: 100000\r\n\r\n\(String(repeating: "x", count: 20_000))",
        ])
    func hostile(request: String) async throws {
        try await withServer { address, _ in
            let text = try await RawConnection.exchange(request, with: address)
            #expect(!text.hasPrefix("HTTP/1.1 2"))
            let next = try await get("/live", at: address)
            #expect(next.body == "live\n")
        }
    }

    @Test("a request that isn't finished by the deadline ends the connection", arguments: ["", "GET /li"])
    func deadline(request: String) async throws {
        try await withServer(requestDeadline: .milliseconds(50)) { address, _ in
            let text = try await RawConnection.exchange(request, with: address)
            #expect(text.isEmpty)
        }
    }

    @Test("beyond the limit of connections a new one is closed, and the place is free again afterwards")
    func connections() async throws {
        try await withServer { address, _ in
            var open: [any Channel] = []
            for _ in 0..<AdminServer.AdminLimits.connectionsMax {
                open.append(
                    try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                        .connect(host: address.host, port: address.port).get())
            }
            let refused = try await RawConnection.exchange("", with: address)
            #expect(refused.isEmpty)
            // The server may have closed one of them already, because nothing came over it.
            for channel in open { try? await channel.close() }
            try await eventually("there is a place again") {
                (try? await get("/live", at: address).body) == "live\n"
            }
        }
    }
}

/// A connection that sends text and collects the answer until the other side closes.
private enum RawConnection {
    static func exchange(_ request: String, with address: HostPort) async throws -> String {
        let promise = MultiThreadedEventLoopGroup.singleton.next().makePromise(of: String.self)
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(promise))
                }
            }
            .connect(host: address.host, port: address.port).get()
        channel.writeAndFlush(ByteBuffer(string: request), promise: nil)
        return try await promise.futureResult.get()
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let promise: EventLoopPromise<String>
        private var text = ByteBuffer()

        init(_ promise: EventLoopPromise<String>) { self.promise = promise }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var bytes = unwrapInboundIn(data)
            text.writeBuffer(&bytes)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelInactive(context: ChannelHandlerContext) { promise.succeed(String(buffer: text)) }
    }
}
