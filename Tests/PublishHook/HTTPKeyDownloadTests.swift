import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RTMAccessToken
import RTMConfigurationFile
import RTMCredentials
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMTokenTestSupport
import Testing

@testable import RTMAppConfiguration
@testable import RTMWebhookCall

@Suite("A-21: keys of JWTs from a real server", .ends(withinMinutes: 2))
struct HTTPKeyDownloadTests {
    private static let document = SampleJWT.keys(SampleJWT.rsaJWK)
    private let group = MultiThreadedEventLoopGroup.singleton

    private func download(
        _ server: TestReceiver, host: String = "issuer.test", scheme: String = "http",
        allowed: [String] = ["127.0.0.1/32"], timeout: TimeAmount = .seconds(5),
        trust: NIOSSLTrustRoots = .default,
        lookup: @escaping CheckedHTTPClient.Lookup = { [try SocketAddress(ipAddress: "127.0.0.1", port: $1)] }
    ) -> HTTPKeyDownload {
        let url = HTTPURL(
            "\(scheme)://\(host):\(server.port)/jwks.json", host: host, port: server.port,
            isEncrypted: scheme == "https")
        return HTTPKeyDownload(
            url,
            .init(
                rules: AddressRules(
                    allowed: allowed.compactMap(AddressRange.init), admitsPublic: url.isEncrypted),
                rulesKey: "tokens.keys.privateAddresses", timeout: timeout, trust: trust, lookup: lookup,
                eventLoopGroup: group))
    }

    /// The cause of the failure.
    private func failure(_ download: HTTPKeyDownload) async -> String? {
        let answer = await download.get()
        await download.shutdown()
        if case .failed(let cause) = answer { return cause }
        Issue.record("\(answer)")
        return nil
    }

    @Test("the document comes with the time for which it is fresh, and the request says what it wants")
    func document() async throws {
        try await TestReceiver.with { _ in
            .init(headers: ["Cache-Control": "public, Max-Age=\"300\", immutable"], body: Self.document)
        } _: { server in
            let download = download(server)
            guard case .document(let text, let lifetime) = await download.get() else {
                Issue.record("no document")
                return
            }
            #expect(text == Self.document)
            #expect(lifetime == .seconds(300))
            let call = try #require(server.calls.first)
            #expect(call.path == "/jwks.json" && call.body.isEmpty)
            #expect(call.headers["accept"] == ["application/jwk-set+json, application/json"])
            await download.shutdown()
        }
    }

    @Test(
        "max-age is read in every form of the header",
        arguments: [
            (["max-age=15"], 15), (["no-cache", "private , max-age = 60"], 60), (["s-maxage=9"], nil),
            (["no-store"], nil), (["max-age=-1"], nil), (["max-age=soon"], nil), (["max-age"], nil),
            ([], nil),
        ] as [([String], UInt32?)])
    func lifetime(_ headers: [String], _ seconds: UInt32?) {
        #expect(CacheLifetime.seconds(headers) == seconds)
    }

    @Test("what isn't a document is named: another status, a redirect, and more bytes than are allowed")
    func refused() async throws {
        let long = TestReceiver.Answer(body: String(repeating: " ", count: 10 << 20))
        for (answer, cause) in [
            (TestReceiver.Answer(.internalServerError), "it answers with 500"),
            (
                .init(.found, headers: ["Location": "http://169.254.169.254/latest/meta-data/"]),
                "it answers with 302, and redirects aren't followed"
            ),
            (long, "its answer has more than 262144 bytes"),
        ] as [(TestReceiver.Answer, String)] {
            try await TestReceiver.with { _ in
                answer
            } _: { server in
                let download = download(server)
                #expect(await failure(download) == cause)
                #expect(server.calls.count == 1)
            }
        }
    }

    @Test("a server that doesn't answer in time has given no answer")
    func hanging() async throws {
        try await TestReceiver.with { _ in
            nil
        } _: { server in
            let cause = await failure(download(server, timeout: .seconds(1)))
            #expect(cause?.hasPrefix("no answer: ") == true)
        }
    }

    @Test("addresses that aren't public have to be allowed, and without https all addresses have to be")
    func addresses() async throws {
        try await TestReceiver.with { server in
            for (scheme, address, cause) in [
                ("https", "127.0.0.1", "not public"), ("https", "169.254.169.254", "not public"),
                ("http", "127.0.0.1", "not allowed without https"),
                ("http", "93.184.216.34", "not allowed without https"),
            ] {
                let download = download(server, scheme: scheme, allowed: []) { _, port in
                    [try SocketAddress(ipAddress: address, port: port)]
                }
                let reason = await failure(download)
                #expect(reason?.contains("\(cause); tokens.keys.privateAddresses has to allow it") == true)
            }
            #expect(server.calls.isEmpty)
        }
    }

    @Test("a certificate that nobody trusts is no connection")
    func certificates() async throws {
        try await TestCertificate.with(names: "DNS:localhost") { certificate in
            try await TestReceiver.with(certificate: certificate) { _ in
                .init(body: Self.document)
            } _: { server in
                let trust = NIOSSLTrustRoots.file(certificate.certificate)
                let trusting = download(server, host: "localhost", scheme: "https", trust: trust)
                guard case .document = await trusting.get() else {
                    Issue.record("no document")
                    return
                }
                await trusting.shutdown()
                let cause = await failure(download(server, host: "localhost", scheme: "https"))
                #expect(cause == "no connection: the peer's certificate isn't trusted")
            }
        }
    }

    // MARK: The keys of a service

    private func token(_ key: String, id: String) throws -> SignedJWT {
        try SignedJWT(
            SampleJWT.claims(for: "anna", endsAt: 2_000_000_000).signed(with: JWTSigningKey(key, id: id)))
    }

    private func refusal(_ keys: FetchedKeys, _ token: SignedJWT) -> RTMError? {
        do throws(RTMError) {
            try keys.check(token)
            return nil
        } catch { return error }
    }

    private func withKeys(
        _ server: TestReceiver, timeout: TimeAmount = .seconds(5), _ timing: JWTKeyRefresh.Timing = .init(),
        _ body: (FetchedKeys) async throws -> Void
    ) async throws {
        let download = download(server, timeout: timeout)
        let logger = Logger(label: "keys", factory: { _ in SwiftLogNoOpLogHandler() })
        let keys = FetchedKeys(download.url, download, timing, on: group.next(), logger) { _ in }
        keys.arm()
        do {
            try await body(keys)
        } catch {
            await keys.end()
            throw error
        }
        await keys.end()
    }

    @Test("a token with the issuer's new key gets in after one fetch, and the old key is gone with it")
    func rotation() async throws {
        try await TestReceiver.with { _ in
            .init(body: Self.document)
        } _: { server in
            // No test waits for the distance of early fetches.
            var timing = JWTKeyRefresh.Timing()
            timing.earlyDistance = .zero
            try await withKeys(server, timing) { keys in
                let (old, new) = try (
                    token(SampleJWT.rsaKey, id: "r"), token(SampleJWT.otherRSAKey, id: "r2")
                )
                try await eventually("the keys are fetched") { refusal(keys, old) == nil }
                #expect(server.calls.count == 1)
                server.answer { _ in .init(body: SampleJWT.keys(SampleJWT.otherRSAJWK)) }
                let first = refusal(keys, new)
                #expect(first?.code == .loginNoServerResources && first?.retryAfter != nil)
                try await eventually("the new key is fetched") { refusal(keys, new) == nil }
                #expect(server.calls.count == 2)
                #expect(refusal(keys, old)?.isRetryable == true, "it is looked for once more")
            }
        }
    }

    @Test("the last keys hold when the issuer answers with nonsense, and its next document is taken")
    func nonsense() async throws {
        try await TestReceiver.with { _ in
            .init(body: Self.document)
        } _: { server in
            var timing = JWTKeyRefresh.Timing()
            (timing.interval, timing.intervalMin) = (.milliseconds(10), .zero)
            (timing.failureWait, timing.failureWaitMax) = (.milliseconds(10), .milliseconds(10))
            try await withKeys(server, timing) { keys in
                let (old, new) = try (
                    token(SampleJWT.rsaKey, id: "r"), token(SampleJWT.otherRSAKey, id: "r2")
                )
                try await eventually("the keys are fetched") { refusal(keys, old) == nil }
                for text in ["<html>", SampleJWT.keys(SampleJWT.secretJWK), #"{"keys":[]}"#] {
                    server.answer { _ in .init(body: text) }
                    let calls = server.calls.count
                    try await eventually("it was asked twice") { server.calls.count >= calls + 2 }
                    #expect(keys.problem?.cause.hasPrefix("the document can't be used") == true)
                    #expect(keys.problem?.hasKeys == true)
                    #expect(refusal(keys, old) == nil)
                }
                let away = refusal(keys, new)
                #expect(
                    away?.reason.contains("can't be fetched at present") == true && away?.isRetryable == true)
                server.answer { _ in .init(body: SampleJWT.keys(SampleJWT.otherRSAJWK)) }
                try await eventually("the document is taken") { refusal(keys, new) == nil }
                #expect(keys.problem == nil)
            }
        }
    }

    @Test("an issuer that hangs holds up nothing, and is asked again")
    func hangingIssuer() async throws {
        try await TestReceiver.with { _ in
            nil
        } _: { server in
            var timing = JWTKeyRefresh.Timing()
            timing.failureWait = .milliseconds(10)
            try await withKeys(server, timeout: .milliseconds(300), timing) { keys in
                let token = try token(SampleJWT.rsaKey, id: "r")
                try await eventually("it is asked twice") { server.calls.count >= 2 }
                #expect(keys.isEmpty && keys.problem?.hasKeys == false)
                let error = refusal(keys, token)
                #expect(error?.code == .loginNoServerResources && error?.retryAfter != nil)
                server.answer { _ in .init(body: Self.document) }
                try await eventually("the keys are fetched") { refusal(keys, token) == nil }
            }
        }
    }

    @Test("/ready and a metric name the URL without keys, and a URL that no app names is forgotten")
    func reports() async throws {
        try await TestReceiver.with { _ in
            .init(.serviceUnavailable)
        } _: { server in
            let logger = Logger(label: "keys", factory: { _ in SwiftLogNoOpLogHandler() })
            let (readiness, metrics) = (ReadinessRegistry(logger: logger), MetricsRegistry())
            let loader = ConfigurationLoader(
                schema: ConfigurationSchema(ConfiguredApp.keys, section: "edge"), rules: ConfiguredApp.rules,
                parse: FileNode.yaml
            ) { _ in
                "apps: [{id: one, jwtKeysURL: 'http://issuer.test:\(server.port)/jwks.json'}]"
            }
            let configuration = try loader.load(arguments: ["--config", "f"], environment: [:])
            let context = ServiceContext(
                service: "edge", configuration: configuration, logger: logger, metrics: metrics,
                readiness: readiness, eventLoopGroup: group)
            let fetches = KeyFetches({ _, _, _ in download(server) }, context, .edge)
            #expect(try ConfiguredApp.all(in: configuration, fetches).first?.tokens != nil)
            #expect(readiness.snapshot.probes.isEmpty)
            fetches.take(configuration)
            try await eventually("the probe names the cause") {
                readiness.snapshot.probes.map(\.status) == [
                    .notReady("no keys from http://issuer.test:\(server.port)/jwks.json: it answers with 503")
                ]
            }
            #expect(readiness.snapshot.isReady)
            #expect(PrometheusExporter.text(metrics).contains("rtm_edge_jwt_keys_missing 1"))
            server.answer { _ in .init(body: Self.document) }
            try await eventually("the keys are there") { readiness.snapshot.probes.map(\.status) == [.ready] }
            #expect(PrometheusExporter.text(metrics).contains("rtm_edge_jwt_keys_missing 0"))
            fetches.take(
                try ConfigurationLoader(
                    schema: ConfigurationSchema(ConfiguredApp.keys, section: "edge")
                ) { _ in "" }
                .load(arguments: [], environment: [:]))
            #expect(PrometheusExporter.text(metrics).contains("rtm_edge_jwt_keys_missing 0"))
            await fetches.shutdown(deadline: .now)
        }
    }
}
