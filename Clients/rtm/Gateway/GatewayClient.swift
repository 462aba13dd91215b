import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RTMClient

/// Calls a gateway, with one key and in one app.
///
/// What the gateway refuses because it came too early is sent again when the gateway says so, for up to 30
/// seconds in all: a call that is refused like that had no effect. Nothing else is repeated.
struct GatewayClient: Sendable {
    /// A path below `/v1`, in pieces, which are encoded one by one.
    struct Path: Sendable, Hashable {
        let pieces: [String]

        /// What is of no app: the keys, and the installation.
        static func global(_ pieces: String...) -> Path { Path(pieces: pieces) }
    }

    /// Limit: bytes of an answer. A page has 1,000 rows at most.
    private static let answerBytesMax = 64 * 1_024 * 1_024
    /// How long an answer may take.
    static let timeout = Duration.seconds(30)

    let settings: GatewaySettings
    /// The command that calls, for errors.
    let operation: String
    private let client: HTTPClient

    /// Works with a client, and closes its connections.
    static func with(
        _ settings: GatewaySettings, operation: String, _ work: (GatewayClient) async throws -> Void
    ) async throws {
        // A redirect would show the key to somebody else.
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(5)), decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let ca = settings.ca { tls.trustRoots = .file(ca) }
        configuration.tlsConfiguration = tls
        let client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton),
            configuration: configuration)
        do {
            try await work(GatewayClient(settings: settings, operation: operation, client: client))
        } catch {
            try? await client.shutdown()
            throw error
        }
        try? await client.shutdown()
    }

    /// What is in the app: `app("users", "ann", "kick")`.
    func app(_ pieces: String...) -> Path { Path(pieces: [settings.appID] + pieces) }

    func get(
        _ path: Path, _ query: [String: String?] = [:], within timeout: Duration = timeout
    ) async throws -> JSON {
        try await call(.GET, path, query, within: timeout)
    }

    func post(_ path: Path, _ body: JSON? = nil) async throws -> JSON {
        try await call(.POST, path, body: body)
    }

    func delete(_ path: Path, _ query: [String: String?]) async throws -> JSON {
        try await call(.DELETE, path, query)
    }

    /// - Parameters:
    ///   - query: a parameter without a value isn't sent.
    ///   - timeout: how long an answer may take.
    /// - Throws: `GatewayError` with what the gateway refused, or why there was no answer.
    private func call(
        _ method: HTTPMethod, _ path: Path, _ query: [String: String?] = [:], body: JSON? = nil,
        within timeout: Duration = timeout
    ) async throws -> JSON {
        var request = HTTPClientRequest(url: url(path, query))
        request.method = method
        request.headers.add(name: "authorization", value: "Bearer \(settings.key)")
        request.headers.add(name: "user-agent", value: "rtm/\(Release.version)")
        if let body { request.body = .bytes(ByteBuffer(string: body.description)) }
        var waited = Duration.zero
        while true {
            do {
                return try await answer(to: request, within: timeout)
            } catch let error as GatewayError {
                guard error.cameTooEarly, let pause = error.retryAfter, waited + pause <= waitMax
                else { throw error }
                waited += pause
                try await Task.sleep(for: pause)
            }
        }
    }

    private func answer(to request: HTTPClientRequest, within timeout: Duration) async throws -> JSON {
        let text: String
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: TimeAmount(timeout))
            text = String(buffer: try await response.body.collect(upTo: Self.answerBytesMax))
        } catch {
            try Task.checkCancellation()
            throw noAnswer(error)
        }
        guard (200...299).contains(response.status.code) else {
            throw GatewayError(
                status: Int(response.status.code), body: text,
                retryAfter: response.headers.first(name: "retry-after"), operation: operation)
        }
        guard let json = JSON(parsing: text) else {
            throw GatewayError(
                status: Int(response.status.code), name: "http",
                reason: "\(settings.gateway) doesn't answer as a gateway; is the address right?",
                operation: operation)
        }
        return json
    }

    private func url(_ path: Path, _ query: [String: String?]) -> String {
        let parameters = query.compactMap { name, value in
            value.map { "\(name)=\($0.percentEncoded)" }
        }.sorted()
        return "\(settings.gateway)/v1/\(path.pieces.map(\.percentEncoded).joined(separator: "/"))"
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }

    // MARK: Why there is no answer

    private func noAnswer(_ error: any Error) -> GatewayError {
        let (name, cause): (String, String) =
            switch error {
            case is NIOConnectionError, is IOError:
                ("notConnected", "can't be reached: \(Self.cause(error)); is a gateway running there?")
            case is NIOSSLError, is BoringSSLError:
                ("notConnected", "can't be reached: TLS failed (\(error)); --ca names authorities to trust")
            case is HTTPParserError: ("http", "doesn't answer as a gateway; is the address right?")
            case is NIOTooManyBytesError: ("http", "answers with more than 64 MiB")
            case let error as HTTPClientError where error == .connectTimeout:
                ("notConnected", "can't be reached: nobody answers there within 5 s")
            case let error as HTTPClientError where error == .deadlineExceeded:
                ("timeout", "has taken too long to answer")
            case let error as HTTPClientError:
                ("notConnected", "has ended the connection (\(error.shortDescription))")
            default: ("notConnected", "can't be reached: \(error)")
            }
        return GatewayError(name: name, reason: "\(settings.gateway) \(cause)", operation: operation)
    }

    /// In the words of the system. Those of NIO are those of its code.
    private static func cause(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.last.map { cause($0.error) } ?? "the name can't be looked up"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        default: "\(error)"
        }
    }
}

extension String {
    /// With nothing but the characters that have no meaning in a URL.
    fileprivate var percentEncoded: String {
        utf8.map { byte in
            let character = Character(UnicodeScalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                return String(character)
            }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
