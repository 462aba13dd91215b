import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RTMCredentials
import RTMModel
import RTMServiceKit
import RTMServiceLink

/// What the routes of the API have in common.
struct GatewayAPI: Sendable {
    let backend: Backend
    let authentication: Authentication
    let rates: RequestRates
    let metrics: GatewayMetrics
    let webhooks: Webhooks
    let nodes: NodeReports
    let hooks: GatewayHooks
    let memory: GatewayMemory
    let bodyBytesMax: Int
    let logger: Logger
    /// Who publishes when a request names nobody.
    let publisher = "server"

    /// All routes. A test holds the OpenAPI document against them.
    ///
    /// - Parameter isReady: whether everything is there that the program needs.
    func router(
        _ console: ConsoleRoutes.Settings, origins: AllowedOrigins, isReady: @escaping @Sendable () -> Bool
    ) -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self, options: .autoGenerateHeadEndpoints)
        let paths = PathTable()
        router.add(middleware: AnswerHeaders(rates: rates, origins: origins))
        router.add(
            middleware: ErrorAnswers(paths: paths, origins: origins, metrics: metrics, logger: logger))
        HealthRoutes(isReady: isReady).add(to: router)
        ConsoleRoutes(api: self, settings: console).add(to: router)
        let version = router.group("v1")
        KeyRoutes(api: self).add(to: version)
        NodeRoutes(api: self).add(to: version)
        let app = version.group(":app")
            .add(middleware: AuthenticationMiddleware(authentication: authentication))
        // Messages and questions are no changes.
        MessageRoutes(api: self).add(to: app)
        TopRoutes(api: self).add(to: app)
        AuditRoutes(api: self).add(to: app)
        ExplainRoutes(api: self).add(to: app)
        let keeper = AuditKeeper(backend, metrics, logger)
        let audited = app.group().add(middleware: AuditLog(logger: logger, keeper: keeper))
            .add(middleware: IdempotencyRule(rates: rates))
        PresenceRoutes(api: self).add(to: audited)
        StorageRoutes(api: self).add(to: audited)
        HistoryRoutes(api: self).add(to: audited)
        ModerationRoutes(api: self).add(to: audited)
        ListRoutes(api: self).add(to: audited)
        EventRoutes(api: self).add(to: audited)
        TokenRoutes(api: self).add(to: audited)
        WebhookRoutes(api: self).add(to: audited)
        VendorRoutes(api: self).add(to: router, authentication)
        paths.take(router.routes.map { ($0.path.description, $0.method) })
        return router
    }

    /// The channel, or the inbox of the user, that a request names.
    func channel(_ channel: String?, _ user: String?, of client: APIClient) throws(APIError) -> ChannelKey {
        let key: ChannelKey
        switch (channel, user) {
        case (let channel?, nil): key = ChannelKey(appID: client.app, type: .message, name: channel)
        case (nil, let user?): key = ChannelKey(appID: client.app, type: .user, name: user)
        default: throw APIError(.badRequest, "invalidTarget", "name either a \"channel\" or a \"user\"")
        }
        try client.check(key)
        return key
    }

    /// Admits a call about no app, and returns the key that makes it.
    ///
    /// - Parameter headers: those that have the key (`Authentication.credentials`).
    func admitHolder(_ headers: HTTPFields, _ context: GatewayContext) throws -> APIKeyRecord {
        let record = try authentication.key(in: headers, now: Date())
        context.credentialAccepted()
        let client = APIClient(record, app: record.app)
        context.client = client
        try rates.spend(by: client, now: .now())
        return record
    }

    /// Limit: a body of a route that has no messages and no metadata.
    static let shortBodyBytesMax = 64 * 1024

    /// Reads the body of a call that was admitted. It costs the client for its length before it is decoded,
    /// and has to find memory as it comes.
    ///
    /// - Throws: 413 for a long one, 400 for anything that isn't the body, with the place.
    func body<Body: APIBody>(
        _ type: Body.Type, of request: Request, by client: APIClient,
        upTo bytesMax: Int = Self.shortBodyBytesMax
    ) async throws -> Body {
        try await read(request, by: client, upTo: bytesMax) { try Request.decodeNamed(type, from: $0) }
    }

    /// What `decode` makes of the whole body.
    func read<Value: Sendable>(
        _ request: Request, by client: APIClient, upTo bytesMax: Int,
        _ decode: @Sendable ([UInt8]) throws -> Value
    ) async throws -> Value {
        let share = memory.bodies.share(of: client)
        defer { share.settle(0) }
        var count = 0
        defer { rates.charge(bytes: count, to: client, now: .now()) }
        let buffer = try await request.bytes(upTo: bytesMax) { more in
            count += more
            // Short bodies are bounded by the number of connections.
            if count > GatewayMemory.uncountedBytes { try share.grow(by: more) }
        }
        let bytes = Array(buffer.readableBytesView)
        rates.charge(bytes: count, to: client, now: .now())
        count = 0
        return try await memory.work.run(bytes: bytes.count, for: client) { try decode(bytes) }
    }

    /// Answers with a page of what is stored. Its bytes count for the client's rates, and it holds its
    /// memory until it is written.
    ///
    /// - Parameters:
    ///   - value: the page, which is made where its JSON is.
    ///   - bytes: about how long the page is.
    ///   - share: what was taken before the page was asked for.
    func page(
        _ value: @autoclosure @Sendable () -> some Encodable & SendableMetatype, bytes: Int,
        _ share: SharedMemory.Share,
        to client: APIClient
    ) async throws -> Response {
        let response = try await memory.work.run(bytes: bytes, for: client) { Response(json: value()) }
        let length = response.body.contentLength ?? bytes
        rates.charge(bytes: length, to: client, now: .now())
        share.settle(length)
        let body = response.body
        return Response(
            status: response.status, headers: response.headers,
            body: ResponseBody(contentLength: length) { [share] writer in
                defer { share.settle(0) }
                try await body.write(writer)
            })
    }

    /// Takes memory for a page before it is asked for.
    func share(of client: APIClient, _ bytesMax: Int) throws(RTMError) -> SharedMemory.Share {
        let share = memory.pages.share(of: client)
        try share.grow(by: bytesMax)
        return share
    }

    /// Admits a call that asks and changes at most one thing.
    func admit(_ context: GatewayContext, _ scope: APIScope) throws -> APIClient {
        guard let client = context.client else {
            throw APIError(.unauthorized, "missingKey", "send an API key")
        }
        // What a key may not do counts, too: each refusal may be a line in the log.
        try rates.spend(by: client, now: .now())
        try client.require(scope)
        return client
    }

    /// Admits a call that a user's token is not enough for, because it shows what others do.
    func admitKey(_ context: GatewayContext, _ scope: APIScope) throws -> APIClient {
        let client = try admit(context, scope)
        guard client.user == nil else {
            throw APIError(.forbidden, "keyNeeded", "this needs an API key; a user's token is not enough")
        }
        return client
    }

    /// Admits a call about users. They are in other channels, too, so a key for some channels doesn't reach
    /// them.
    func admitForUsers(_ context: GatewayContext, _ scope: APIScope) throws -> APIClient {
        let client = try admitKey(context, scope)
        guard client.channels == nil else {
            throw APIError(.forbidden, "channelOutOfReach", "a key for some channels doesn't reach users")
        }
        return client
    }
}

/// Lets in who may call for the app of the path.
struct AuthenticationMiddleware: RouterMiddleware {
    typealias Context = GatewayContext
    let authentication: Authentication

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let app = try context.parameter("app")
        context.client = try authentication.client(
            of: authentication.credentials(of: request), app: app, now: Date())
        context.credentialAccepted()
        return try await next(request, context)
    }
}

extension SharedMemory {
    func share(of client: APIClient) -> Share { share(of: client.app, by: client.name) }
}

/// The memory and the time that calls share.
struct GatewayMemory: Sendable {
    /// Limit: bytes of a body that aren't counted.
    static let uncountedBytes = 8 * 1024
    /// How many of the longest bodies one caller may have under way, as long as nobody else has one.
    private static let bodiesAtOnce = 4

    let bodies: SharedMemory
    let pages: SharedMemory
    let work: LongWork

    /// - Parameters:
    ///   - bodyBytesMax: the longest body, of which a caller may always have some.
    ///   - processors: how many there are.
    init(bodyBytesMax: Int, bodiesBytesMax: Int, pagesBytesMax: Int, processors: Int) {
        bodies = SharedMemory(
            "gateway.bodies.totalBytesMax", bytesMax: max(bodiesBytesMax, Self.bodiesAtOnce * bodyBytesMax))
        pages = SharedMemory("gateway.pages.totalBytesMax", bytesMax: pagesBytesMax)
        work = LongWork(atOnceMax: max(1, processors / 2))
    }
}

/// Refuses an Idempotency-Key where it would have no effect: whoever sends one counts on it (W-24).
struct IdempotencyRule: RouterMiddleware {
    typealias Context = GatewayContext
    let rates: RequestRates

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard request.method != .get, request.method != .head, request.headers.contains(.idempotencyKey)
        else {
            return try await next(request, context)
        }
        if let client = context.client { try rates.spend(by: client, now: .now()) }
        throw APIError(
            .badRequest, "idempotencyKeyUnknown",
            "an Idempotency-Key is for messages; leave it out, and make this call safe by \"revision\" or by "
                + "repeating it")
    }
}

/// Whether this gateway should get requests, for load balancers that reach no admin port. It says no more
/// than that, because nobody is asked for a key.
struct HealthRoutes: Sendable {
    /// Whether everything is there that the program needs.
    let isReady: @Sendable () -> Bool

    func add(to router: Router<GatewayContext>) { router.get("health", use: health) }

    struct Health: Encodable, Sendable { var ready = true }

    @Sendable func health(_ request: Request, _ context: GatewayContext) throws -> Response {
        _ = try request.query([])
        guard isReady() else {
            throw APIError(
                .serviceUnavailable, "notReady", "a service that this gateway needs is away",
                retryAfter: .seconds(1))
        }
        var response = Response(json: Health())
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
