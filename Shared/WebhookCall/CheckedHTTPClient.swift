import AsyncHTTPClient
package import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import RTMCredentials
import RTMServiceKit
import RTMServiceLink
import Synchronization

/// Sends requests to one host. It asks for the address of the host itself, checks it, and has the connection
/// made to this very address: were the name asked for a second time, another answer could lead to an address
/// that wasn't checked. Redirects aren't followed.
package final class CheckedHTTPClient: Sendable {
    /// Asks which addresses a host has at a port.
    package typealias Lookup = @Sendable (String, Int) async throws -> [SocketAddress]

    /// What all clients of one kind in a process have in common.
    package struct Environment: Sendable {
        let rules: AddressRules
        /// The configuration key that allows private addresses, for the operator who meets a refusal.
        let rulesKey: String
        /// How long an answer may take.
        package var timeout: TimeAmount
        let trust: NIOSSLTrustRoots
        /// Nil for that of the system.
        let lookup: Lookup?
        /// How long an address holds before it is asked for again.
        let addressLifetime: TimeAmount
        let eventLoopGroup: any EventLoopGroup

        package init(
            rules: AddressRules, rulesKey: String, timeout: TimeAmount, trust: NIOSSLTrustRoots = .default,
            lookup: Lookup? = nil, addressLifetime: TimeAmount = .seconds(30),
            eventLoopGroup: any EventLoopGroup
        ) {
            (self.rules, self.rulesKey, self.timeout, self.trust) = (rules, rulesKey, timeout, trust)
            (self.lookup, self.addressLifetime) = (lookup, addressLifetime)
            self.eventLoopGroup = eventLoopGroup
        }
    }

    /// Why there is no answer.
    enum Failure: Error, Equatable {
        /// The name, the address, the port or the certificate isn't right.
        case noConnection(String)
        /// There is a connection, and no whole answer.
        case noAnswer(String)
    }

    private struct Place {
        let address: SocketAddress
        let client: HTTPClient
        let expiry: NIODeadline
    }

    private struct Connection {
        var place: Place?
        var isShutDown = false

        mutating func takeClient() -> HTTPClient? { place.take()?.client }
    }

    private struct Refusal: Error { let reason: String }

    let url: HTTPURL
    private let environment: Environment
    private let connectionsMax: Int
    private let connection = Mutex(Connection())
    /// Which of several addresses is tried, so that one that doesn't answer isn't tried alone.
    private let turn = Mutex(0)

    init(_ url: HTTPURL, connectionsMax: Int, _ environment: Environment) {
        (self.url, self.connectionsMax, self.environment) = (url, connectionsMax, environment)
    }

    /// Requests that are under way, and later ones, fail.
    func shutdown() async {
        let client = connection.withLock { connection in
            connection.isShutDown = true
            return connection.takeClient()
        }
        try? await client?.shutdown()
    }

    /// Sends a request and reads the answer, within the time that an answer may take.
    func send<Answer>(
        _ request: HTTPClientRequest, _ read: (HTTPClientResponse, NIODeadline) async throws -> Answer
    ) async throws(Failure) -> Answer {
        let deadline = NIODeadline.now() + environment.timeout
        do {
            return try await read(client().execute(request, deadline: deadline), deadline)
        } catch {
            let failure = (error as? Failure) ?? Self.failure(error)
            if case .noConnection = failure { forgetAddress() }
            throw failure
        }
    }

    private static func failure(_ error: any Error) -> Failure {
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
        if let place = connection.withLock({ $0.place }), .now() < place.expiry { return place.client }
        let found =
            if let lookup = environment.lookup {
                try await lookup(url.host, url.port)
            } else {
                try await AddressLookup.system.addresses(
                    of: url.host, port: url.port, within: environment.timeout)
            }
        let admitted = found.filter(environment.rules.admits)
        guard !admitted.isEmpty else {
            throw Refusal(
                reason: found.isEmpty
                    ? "\(url.host) has no address"
                    : "the address of \(url.host) is not "
                        + (environment.rules.admitsPublic ? "public" : "allowed without https")
                        + "; \(environment.rulesKey) has to allow it"
            )
        }
        let expiry = NIODeadline.now() + environment.addressLifetime
        let address = turn.withLock { admitted[$0 % admitted.count] }
        let (client, old) = try connection.withLock {
            connection throws(Refusal) -> (HTTPClient, HTTPClient?) in
            // The shutdown may have come while the address was looked up.
            guard !connection.isShutDown else { throw Refusal(reason: "the client has been shut down") }
            if let kept = connection.place, admitted.contains(kept.address) {
                connection.place = Place(address: kept.address, client: kept.client, expiry: expiry)
                return (kept.client, nil)
            }
            let old = connection.takeClient()
            let client = makeClient(to: address)
            connection.place = Place(address: address, client: client, expiry: expiry)
            return (client, old)
        }
        retire(old)
        return client
    }

    private func forgetAddress() {
        turn.withLock { $0 += 1 }
        retire(connection.withLock { $0.takeClient() })
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
        configuration.dnsOverride = [url.host: address.ipAddress ?? url.host]
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
