import AsyncHTTPClient
package import Foundation
package import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import RTMServiceKit
import RTMServiceLink
package import RTMWebhookSignature
import Synchronization

/// Where the requests of one webhook or hook go. It asks for the address of the host itself, checks it, and
/// has the connection made to this very address: were the name asked for a second time, another answer could
/// lead to an address that wasn't checked.
package final class WebhookReceiver: Sendable {
    /// Asks which addresses a host has at a port.
    package typealias Lookup = @Sendable (String, Int) async throws -> [SocketAddress]

    /// What all receivers of one kind in a process have in common.
    package struct Environment: Sendable {
        let rules: AddressRules
        /// The configuration key that allows private addresses, for the operator who meets a refusal.
        let rulesKey: String
        /// How long an answer may take.
        package var timeout: TimeAmount
        let trust: NIOSSLTrustRoots
        let lookup: Lookup
        /// How long an address holds before it is asked for again.
        let addressLifetime: TimeAmount
        let eventLoopGroup: any EventLoopGroup

        package init(
            rules: AddressRules, rulesKey: String, timeout: TimeAmount, trust: NIOSSLTrustRoots = .default,
            lookup: @escaping Lookup = { try await AddressLookup.system($0, port: $1) },
            addressLifetime: TimeAmount = .seconds(30), eventLoopGroup: any EventLoopGroup
        ) {
            (self.rules, self.rulesKey, self.timeout, self.trust) = (rules, rulesKey, timeout, trust)
            (self.lookup, self.addressLifetime) = (lookup, addressLifetime)
            self.eventLoopGroup = eventLoopGroup
        }
    }

    private struct Place {
        let address: SocketAddress
        let client: HTTPClient
        let expiry: NIODeadline
    }

    struct Refusal: Error { let reason: String }

    /// Limit: bytes of an answer that are read beyond those that are kept. The rest of a longer one is cut
    /// off with its connection.
    private static let passedOverBytesMax = 64 * 1_024

    private let target: WebhookTarget
    private let environment: Environment
    private let connectionsMax: Int
    /// Limit: bytes of an answer that are kept.
    private let keptBytesMax: Int
    private let place = Mutex<Place?>(nil)
    /// Which of several addresses is tried, so that one that doesn't answer isn't tried alone.
    private let turn = Mutex(0)

    /// - Parameter keptBytesMax: how much of an answer is kept; the rest is passed over.
    package init(
        _ target: WebhookTarget, connectionsMax: Int, keptBytesMax: Int = WebhookAnswer.startBytesMax,
        _ environment: Environment
    ) {
        (self.target, self.connectionsMax, self.environment) = (target, connectionsMax, environment)
        self.keptBytesMax = keptBytesMax
    }

    package func shutdown() async {
        let place = place.withLock { place in
            defer { place = nil }
            return place
        }
        try? await place?.client.shutdown()
    }

    /// Sends a signed request, and never throws: whatever happens is an answer.
    package func post(_ body: String, now: Date) async -> WebhookAnswer {
        let start = NIODeadline.now()
        var answer: WebhookAnswer
        do {
            answer = try await post(
                Array(body.utf8), to: client(), now: now, deadline: start + environment.timeout)
        } catch {
            answer = WebhookAnswer(outcome: Self.outcome(of: error))
        }
        if case .noConnection = answer.outcome { forgetAddress() }
        answer.duration = .now() - start
        return answer
    }

    private func post(
        _ body: [UInt8], to client: HTTPClient, now: Date, deadline: NIODeadline
    ) async throws -> WebhookAnswer {
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.headers.add(name: "user-agent", value: "heliograph")
        let signed = WebhookSignature(secrets: target.secrets).headers(
            id: WebhookSignature.id(of: body), seconds: UInt64(now.timeIntervalSince1970), body: body)
        for field in signed { request.headers.add(name: field.name, value: field.value) }
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await client.execute(request, deadline: deadline)
        var answer = WebhookAnswer(outcome: .status(Int(response.status.code)))
        answer.retryAfter = RetryAfter.pause(
            response.headers.first(name: "retry-after"), sent: response.headers.first(name: "date"), now: now)
        answer.start = try await start(of: response, deadline: deadline)
        return answer
    }

    /// The first bytes. The rest is read, too, as long as it is short, because only then can the connection
    /// be used again.
    private func start(of response: HTTPClientResponse, deadline: NIODeadline) async throws -> String {
        var (start, count) = ([UInt8](), 0)
        for try await part in response.body {
            count += part.readableBytes
            start += part.readableBytesView.prefix(keptBytesMax - start.count)
            guard count <= keptBytesMax + Self.passedOverBytesMax, .now() < deadline else { break }
        }
        return String(decoding: start, as: UTF8.self)
    }

    private static func outcome(of error: any Error) -> WebhookAnswer.Outcome {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .readTimeout, .writeTimeout, .deadlineExceeded, .remoteConnectionClosed, .cancelled,
                .uncleanShutdown:
                .noAnswer(error.shortDescription)
            default: .noConnection(error.shortDescription)
            }
        case is HTTPParserError: .noAnswer("what came is not HTTP/1.1")
        case let error as AddressLookup.Failure: .noConnection(error.description)
        case let refusal as Refusal: .noConnection(refusal.reason)
        default: .noConnection(connectFailure(error))
        }
    }

    // MARK: - The address

    private func client() async throws -> HTTPClient {
        if let place = place.withLock({ $0 }), .now() < place.expiry { return place.client }
        let found = try await environment.lookup(target.host, target.port)
        let admitted = found.filter(environment.rules.admits)
        guard !admitted.isEmpty else {
            throw Refusal(
                reason: found.isEmpty
                    ? "\(target.host) has no address"
                    : "the address of \(target.host) is not public; "
                        + "\(environment.rulesKey) has to allow it"
            )
        }
        let expiry = NIODeadline.now() + environment.addressLifetime
        let address = turn.withLock { admitted[$0 % admitted.count] }
        let (client, old) = place.withLock { place -> (HTTPClient, HTTPClient?) in
            if let kept = place, admitted.contains(kept.address) {
                place = Place(address: kept.address, client: kept.client, expiry: expiry)
                return (kept.client, nil)
            }
            let old = place?.client
            let client = makeClient(to: address)
            place = Place(address: address, client: client, expiry: expiry)
            return (client, old)
        }
        retire(old)
        return client
    }

    private func forgetAddress() {
        turn.withLock { $0 += 1 }
        retire(
            place.withLock { place in
                defer { place = nil }
                return place?.client
            })
    }

    /// Ends a client when the requests that are under way at other addresses have their answers.
    private func retire(_ client: HTTPClient?) {
        guard let client else { return }
        let timeout = environment.timeout
        // Unstructured: whoever has found the new address must not wait for the old one.
        Task {
            try? await Task.sleep(for: .nanoseconds(timeout.nanoseconds))
            try? await client.shutdown()
        }
    }

    private func makeClient(to address: SocketAddress) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: environment.timeout, read: environment.timeout), decompression: .disabled)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = environment.trust
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsMax
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.dnsOverride = [target.host: address.ipAddress ?? target.host]
        // Whatever name the client has made of the URL: before anything is sent, the connection itself shows
        // where it leads.
        configuration.http1_1ConnectionDebugInitializer = { channel in
            guard channel.remoteAddress?.ipAddress != address.ipAddress else {
                return channel.eventLoop.submit { try InterimAnswers.limit(in: channel) }
            }
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(
                Refusal(reason: "the connection leads to another address"))
        }
        return HTTPClient(
            eventLoopGroupProvider: .shared(environment.eventLoopGroup), configuration: configuration)
    }
}

/// Ends a connection whose receiver sends interim answers (103 and others below 200) without end: each of
/// them costs the event loop as much as an answer, and none is one.
private final class InterimAnswers: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    /// Limit: interim answers to one request.
    private static let countMax = 8

    private var count = 0

    static func limit(in channel: any Channel) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(
            InterimAnswers(),
            position: .after(pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)))
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        count = head.status.code < 200 ? count + 1 : 0
        guard count <= Self.countMax else {
            // What was read with it must not be looked at any more.
            if count == Self.countMax + 1 { context.close(promise: nil) }
            return
        }
        context.fireChannelRead(data)
    }
}
