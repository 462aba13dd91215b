import Foundation
import Hummingbird
import RTMCredentials
import RTMServiceKit

/// The console: its files, and its login. Everything else that it does goes through the API.
struct ConsoleRoutes: Sendable {
    struct Settings: Sendable {
        /// The WebSockets of edges, for the pages that this gateway serves.
        var sockets: [String] = []
        /// Whether the sample of the web client is served, too.
        var hasSample = false
        /// Whether browsers reach this listener by TLS.
        var isSecure = false
    }

    /// Limit: the body of a login, which nobody vouches for before it is read.
    private static let loginBytesMax = 1_024

    let api: GatewayAPI
    let settings: Settings

    func add(to router: Router<GatewayContext>) {
        // With and without a slash behind it.
        router.get("console", use: console)
        router.get("console/**", use: file)
        router.get("web/**", use: file)
        router.get("openapi.yaml", use: file)
        router.get("console/session", use: current)
        router.post("console/session", use: login)
        router.delete("console/session", use: logout)
    }

    struct Login: APIBody {
        var key: String
        enum CodingKeys: String, CodingKey, CaseIterable { case key }
    }

    struct Session: Encodable, Sendable {
        /// For the header `rtm-csrf` of every request that changes something.
        let csrf: String
        let key: KeyRoutes.Key
        /// The apps that the key is for.
        let apps: [String]
        /// Where the web client reaches an edge.
        let edges: [String]
        let version: String
    }

    /// As it was written: the framework drops a slash at the end.
    private static func path(of request: Request) -> String {
        let pieces = request.head.path?.split(separator: "?", omittingEmptySubsequences: false)
        return pieces?.first.map(String.init) ?? ""
    }

    /// Modules of the web client lie beside those of the console, so that their paths are relative.
    static func file(at path: String) -> String {
        if path.hasSuffix("/") { return path + "index.html" }
        let client = "console/client/"
        return path.hasPrefix(client) ? "web/src/" + path.dropFirst(client.count) : path
    }

    @Sendable func console(_ request: Request, _ context: GatewayContext) throws -> Response {
        guard Self.path(of: request).hasSuffix("/") else {
            return Response(status: .permanentRedirect, headers: [.location: "/console/"])
        }
        return try file(request, context)
    }

    @Sendable func file(_ request: Request, _ context: GatewayContext) throws -> Response {
        // What stands in a URL is kept by browsers, proxies and logs.
        guard request.uri.query?.contains("rtmk_") != true else {
            throw APIError(.badRequest, "keyInURL", "a key never belongs into a URL: revoke this one")
        }
        let path = Self.file(at: String(Self.path(of: request).drop { $0 == "/" }))
        guard let file = ServedFile.all[path], settings.hasSample || !path.hasPrefix("web/sample/") else {
            throw APIError(.notFound, "noSuchPath", "there is nothing at this path")
        }
        return file.response(
            to: request, sockets: settings.sockets,
            isSecure: ConsoleCookie(request, isSecure: settings.isSecure).isSecure)
    }

    @Sendable func current(_ request: Request, _ context: GatewayContext) throws -> Response {
        guard let session = session(of: request) else { throw Credentials.missing }
        return Response(json: try describe(session, context))
    }

    @Sendable func login(_ request: Request, _ context: GatewayContext) async throws -> Response {
        // Another site's form can't send this type, so it can't log somebody in with a key of its own.
        guard request.headers[.contentType]?.lowercased().hasPrefix("application/json") ?? false else {
            throw APIError(.badRequest, "jsonNeeded", "a login needs the Content-Type application/json")
        }
        let body = try await request.body(Login.self, upTo: Self.loginBytesMax)
        guard let key = APIKey(body.key) else {
            throw Credentials.unknown
        }
        let session = ConsoleSession(key)
        var response = Response(json: try describe(session, context))
        let now = UInt64(Date().timeIntervalSince1970)
        let value = api.authentication.seal.close(session, now: now)
        response.setCookie(ConsoleCookie(request, isSecure: settings.isSecure).holding(value))
        return response
    }

    @Sendable func logout(_ request: Request, _ context: GatewayContext) throws -> Response {
        try session(of: request)?.checkOrigin(of: request)
        var response = Response(status: .noContent)
        response.setCookie(ConsoleCookie(request, isSecure: settings.isSecure).ended)
        return response
    }

    private func session(of request: Request) -> ConsoleSession? {
        api.authentication.session(of: request, isSecure: settings.isSecure)
    }

    private func describe(_ session: ConsoleSession, _ context: GatewayContext) throws -> Session {
        let record = try api.admitHolder([.authorization: "Bearer \(session.key.text)"], context)
        return Session(
            csrf: session.csrf, key: KeyRoutes.Key(record, lastUse: nil),
            apps: record.app == "*" ? api.authentication.apps : [record.app], edges: settings.sockets,
            version: BuildInformation.version)
    }
}
