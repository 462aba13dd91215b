import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RTMCredentials
import RTMServiceKit
import RTMTestSupport
import Synchronization
import Testing

@testable import RTMWebhookCall

@Suite("W-53: a webhook's requests, to a real server")
struct WebhookReceiverTests {
    private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private let loopback = AddressRange("127.0.0.1/32")

    private func post(
        _ url: String, host: String, port: Int, body: String = "{}", allowsLoopback: Bool = true,
        timeout: TimeAmount = .seconds(5), trust: NIOSSLTrustRoots = .default, times: Int = 1,
        addressLifetime: TimeAmount = .seconds(30),
        lookup: CheckedHTTPClient.Lookup? = {
            [try SocketAddress(ipAddress: "127.0.0.1", port: $1)]
        }
    ) async throws -> [WebhookAnswer] {
        let target = WebhookTarget(
            HTTPURL(url, host: host, port: port, isEncrypted: url.hasPrefix("https")),
            secrets: [try #require(WebhookSecret(secret))])
        let receiver = WebhookReceiver(
            target, connectionsMax: 2,
            .init(
                rules: AddressRules(allowed: allowsLoopback ? [try #require(loopback)] : []),
                rulesKey: "webhooks.privateAddresses", timeout: timeout,
                trust: trust, lookup: lookup, addressLifetime: addressLifetime,
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton))
        var answers: [WebhookAnswer] = []
        for _ in 0..<times {
            answers.append(await receiver.post(body, now: Date(timeIntervalSince1970: 1_764_000_000)))
        }
        await receiver.shutdown()
        return answers
    }

    @Test(
        "Retry-After is seconds or a date, which counts from the date of the answer",
        arguments: [
            ("17", nil, 17), ("Fri, 27 Nov 2026 12:00:30 GMT", nil, 30),
            ("Fri, 27 Nov 2026 12:00:30 GMT", "Fri, 27 Nov 2026 12:00:10 GMT", 20),
            ("Friday, 27-Nov-26 12:01:00 GMT", nil, 60), ("Fri Nov 27 12:01:00 2026", nil, 60),
            ("Fri, 27 Nov 2026 11:00:00 GMT", nil, 0), ("soon", nil, nil), ("-1", nil, nil), ("", nil, nil),
            ("Fri, 27 Nov 2026 12:00:30 GMT and more", nil, nil), (nil, nil, nil),
        ] as [(String?, String?, Int64?)])
    func retryAfter(_ text: String?, _ sent: String?, _ seconds: Int64?) {
        // 2026-11-27T12:00:00Z
        let now = Date(timeIntervalSince1970: 1_795_780_800)
        #expect(RetryAfter.pause(text, sent: sent, now: now) == seconds.map { .seconds($0) })
    }

    @Test("a URL with a port that there isn't is no target", arguments: [0, 65_536, 99_999, 4_294_967_376])
    func ports(_ port: Int) {
        for scheme in ["http", "https"] {
            #expect(WebhookTarget(url: "\(scheme)://example.com:\(port)/in", secrets: [secret]) == nil)
            let last = WebhookTarget(url: "\(scheme)://example.com:65535/in", secrets: [secret])
            #expect(last?.url.port == 65_535)
        }
    }

    @Test("a receiver that answers with 103 without end loses its connection; a few of them are passed over")
    func interim() async throws {
        for (count, outcome) in [(3, WebhookAnswer.Outcome.status(200)), (10_000_000, nil)] {
            let flood = ByteBuffer(
                string: String(
                    repeating: "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", count: min(count, 500)))
            let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Flood(flood, endsAfter: count))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let port = try #require(server.localAddress?.port)
            let start = ContinuousClock.now
            let answer = try await post("http://receiver.test:\(port)/", host: "receiver.test", port: port)
            if let outcome {
                #expect(answer.first?.outcome == outcome)
            } else if case .noAnswer = answer.first?.outcome {
                #expect(.now - start < .seconds(3), "not only at the end of its time")
            } else {
                Issue.record("\(answer)")
            }
            try await server.close()
        }
    }

    @Test("it is signed JSON, and the answer comes back with its start and its Retry-After")
    func signed() async throws {
        try await TestReceiver.with { _ in
            .init(
                .tooManyRequests, headers: ["Retry-After": "17"],
                body: String(repeating: "slow down ", count: 100))
        } _: { server in
            let answers = try await post(
                "http://receiver.test:\(server.port)/in?a=b", host: "receiver.test", port: server.port,
                body: #"{"events":[]}"#)
            let answer = try #require(answers.first)
            #expect(answer.outcome == .status(429))
            #expect(answer.retryAfter == .seconds(17))
            #expect(answer.start.utf8.count == 200 && answer.start.hasPrefix("slow down"))
            let call = try #require(server.calls.first)
            #expect(call.body == #"{"events":[]}"# && call.path == "/in?a=b")
            #expect(call.headers["content-type"] == ["application/json"])
            let id = WebhookSignature.id(of: Array(call.body.utf8))
            let expected = WebhookSignature(secrets: [try #require(WebhookSecret(secret))]).headers(
                id: id, seconds: 1_764_000_000, body: Array(call.body.utf8))
            for field in expected { #expect(call.headers[field.name] == [field.value]) }
        }
    }

    @Test("W-53: the address that was checked is connected to, whatever the system's DNS says")
    func pinned() async throws {
        try await TestReceiver.with { server in
            // The system doesn't know this name, so only the checked address can have been used.
            let answers = try await post(
                "http://Receiver.Invalid:\(server.port)/", host: "Receiver.Invalid", port: server.port,
                times: 3)
            #expect(answers.map(\.outcome) == Array(repeating: .status(200), count: 3))
            #expect(server.calls.count == 3)
        }
    }

    @Test("were the client to resolve the name itself, the connection would be closed before it is used")
    func resolvedTwice() async throws {
        try await TestReceiver.with { server in
            // The override is for another spelling of the host, so the client asks the system: 127.0.0.1. The
            // address that was checked is another one.
            let answers = try await post(
                "http://localhost:\(server.port)/", host: "other.test", port: server.port,
                allowsLoopback: false,
                lookup: { [try SocketAddress(ipAddress: "93.184.216.34", port: $1)] })
            #expect(answers.first?.outcome == .noConnection("the connection leads to another address"))
            #expect(server.calls.isEmpty)
        }
    }

    @Test(
        "addresses that aren't public are refused, also in other notations and beside public ones",
        arguments: [
            "127.0.0.1", "2130706433", "0x7f.1", "127.1", "localhost", "[::1]", "[::ffff:127.0.0.1]",
            "0.0.0.0",
        ])
    func refused(host: String) async throws {
        try await TestReceiver.with { server in
            let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
            let answers = try await post(
                "http://\(host):\(server.port)/", host: name, port: server.port, allowsLoopback: false,
                lookup: nil)
            guard case .noConnection? = answers.first?.outcome else {
                Issue.record("\(host): \(String(describing: answers.first))")
                return
            }
            #expect(server.calls.isEmpty)
        }
    }

    @Test("a name that leads elsewhere later is checked again: DNS rebinding")
    func rebinding() async throws {
        let asked = Mutex(0)
        try await TestReceiver.with { server in
            func answers(_ lifetime: TimeAmount) async throws -> [WebhookAnswer.Outcome] {
                asked.withLock { $0 = 0 }
                return try await post(
                    "http://rebind.test:\(server.port)/", host: "rebind.test", port: server.port, times: 2,
                    addressLifetime: lifetime,
                    lookup: { _, port in
                        let isFirst = asked.withLock { count in
                            count += 1
                            return count == 1
                        }
                        return [
                            try SocketAddress(
                                ipAddress: isFirst ? "127.0.0.1" : "169.254.169.254", port: port)
                        ]
                    }
                ).map(\.outcome)
            }
            #expect(try await answers(.seconds(30)) == [.status(200), .status(200)], "asked once")
            let later = try await answers(.nanoseconds(0))
            #expect(later[0] == .status(200))
            guard case .noConnection(let reason) = later[1] else {
                Issue.record("\(later)")
                return
            }
            #expect(reason.contains("not public"))
            #expect(server.calls.count == 3)
        }
    }

    @Test("a shutdown while the address is looked up leaves no client behind, and the request fails")
    func shutdownDuringLookup() async throws {
        let (lookups, begun) = AsyncStream<CheckedContinuation<Void, Never>>.makeStream()
        let target = WebhookTarget(
            HTTPURL("http://late.test:9/", host: "late.test", port: 9, isEncrypted: false),
            secrets: [try #require(WebhookSecret(secret))])
        let receiver = WebhookReceiver(
            target, connectionsMax: 1,
            .init(
                rules: AddressRules(allowed: [try #require(loopback)]), rulesKey: "webhooks.privateAddresses",
                timeout: .seconds(5),
                lookup: { _, port in
                    await withCheckedContinuation { _ = begun.yield($0) }
                    return [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
                },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton))
        async let answer = receiver.post("{}", now: Date(timeIntervalSince1970: 1_764_000_000))
        for await lookup in lookups {
            await receiver.shutdown()
            lookup.resume()
            break
        }
        #expect(await answer.outcome == .noConnection("the client has been shut down"))
    }

    @Test("W-53: redirects aren't followed: the status is a refusal")
    func redirects() async throws {
        try await TestReceiver.with { _ in
            .init(.temporaryRedirect, headers: ["Location": "/metadata"])
        } _: { server in
            let answers = try await post(
                "http://receiver.test:\(server.port)/", host: "receiver.test", port: server.port)
            #expect(answers.map(\.outcome) == [.status(307)])
            #expect(answers.first?.verdict == .refused)
            #expect(server.calls.count == 1)
        }
    }

    @Test("a certificate that nobody trusts is no connection; a trusted one of the host's name is")
    func certificates() async throws {
        try await TestCertificate.with(names: "DNS:localhost") { certificate in
            try await TestReceiver.with(certificate: certificate) { server in
                let trust = NIOSSLTrustRoots.file(certificate.certificate)
                func outcome(_ host: String, _ trust: NIOSSLTrustRoots) async throws -> WebhookAnswer.Outcome?
                {
                    try await post(
                        "https://\(host):\(server.port)/", host: host, port: server.port, trust: trust
                    ).first?.outcome
                }
                #expect(try await outcome("localhost", trust) == .status(200))
                let own = try await outcome("localhost", .default)
                #expect(own == .noConnection("the peer's certificate isn't trusted"))
                let foreign = try await outcome("other.test", trust)
                #expect(foreign == .noConnection("the peer's certificate is for another host"))
                #expect(server.calls.count == 1)
            }
        }
    }

    @Test("a receiver that doesn't answer in time has given no answer")
    func timeout() async throws {
        try await TestReceiver.with { _ in
            nil
        } _: { server in
            let answers = try await post(
                "http://receiver.test:\(server.port)/", host: "receiver.test", port: server.port,
                timeout: .seconds(2))
            guard case .noAnswer? = answers.first?.outcome else {
                Issue.record("\(answers)")
                return
            }
        }
    }

    @Test("nobody listens: no connection, and it is an outage")
    func nobody() async throws {
        let answers = try await post("http://receiver.test:1/", host: "receiver.test", port: 1)
        #expect(answers.first?.verdict == .away(retryAfter: nil))
    }

    @Test("of a long answer the start is shown and the rest isn't waited for")
    func longAnswer() async throws {
        try await TestReceiver.with { _ in
            .init(body: String(repeating: "a", count: 8 << 20))
        } _: { server in
            let answers = try await post(
                "http://receiver.test:\(server.port)/", host: "receiver.test", port: server.port, times: 2)
            #expect(answers.map(\.outcome) == [.status(200), .status(200)])
            #expect(answers[0].start == String(repeating: "a", count: 200))
        }
    }
}

/// Answers each request with interim answers, and after a few of them with the answer, or goes on with them.
private final class Flood: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: ByteBuffer
    private let count: Int
    private var hasBegun = false

    init(_ bytes: ByteBuffer, endsAfter count: Int) { (self.bytes, self.count) = (bytes, count) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasBegun else { return }
        hasBegun = true
        guard count > 500 else {
            context.write(wrapOutboundOut(bytes), promise: nil)
            let end = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            return context.writeAndFlush(wrapOutboundOut(end), promise: nil)
        }
        Self.pour(bytes, context.channel)
    }

    private static func pour(_ bytes: ByteBuffer, _ channel: any Channel) {
        channel.writeAndFlush(bytes).whenSuccess {
            if channel.isActive { channel.eventLoop.execute { pour(bytes, channel) } }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
