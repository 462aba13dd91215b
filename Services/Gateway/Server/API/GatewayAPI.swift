import Foundation
import Hummingbird
import NIOCore
import RTMModel
import RTMServiceKit

/// What the routes of the API have in common.
struct GatewayAPI: Sendable {
    let backend: Backend
    let authentication: Authentication
    let rates: RequestRates
    let metrics: GatewayMetrics
    let bodyBytesMax: Int
    /// Who publishes when a request names nobody.
    let publisher = "server"

    /// All routes. A test holds the OpenAPI document against them.
    func router() -> Router<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        router.add(middleware: ErrorAnswers(metrics: metrics))
        router.get("v1/keys/self") { request, _ in try KeyRoutes(api: self).own(request) }
        let app = router.group("v1/:app").add(middleware: Admission(authentication: authentication))
        MessageRoutes(api: self).add(to: app)
        PresenceRoutes(api: self).add(to: app)
        StorageRoutes(api: self).add(to: app)
        HistoryRoutes(api: self).add(to: app)
        ModerationRoutes(api: self).add(to: app)
        VendorRoutes(api: self).add(to: router, authentication)
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

    /// Admits a call that asks and changes at most one thing.
    func admit(_ context: GatewayContext, _ scope: APIScope) throws -> APIClient {
        let client = try context.admitted(scope)
        try rates.spend(by: client, now: .now())
        return client
    }
}

extension GatewayContext {
    /// Who calls, if they have the scope.
    func admitted(_ scope: APIScope) throws(APIError) -> APIClient {
        guard let client else { throw APIError(.unauthorized, "missingKey", "send an API key") }
        try client.require(scope)
        return client
    }
}

/// Lets in who may call for the app of the path.
struct Admission: RouterMiddleware {
    typealias Context = GatewayContext
    let authentication: Authentication

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let app = try context.parameters.require("app")
        context.client = try authentication.client(of: request, app: app, now: Date())
        return try await next(request, context)
    }
}

/// Writes every failure as the one error body, and counts the answers.
struct ErrorAnswers: RouterMiddleware {
    typealias Context = GatewayContext
    let metrics: GatewayMetrics

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = await answer { try await next(request, context) }
        metrics.answered(response.status.code, after: .now - start)
        return response
    }

    private func answer(_ body: () async throws -> Response) async -> Response {
        do {
            return try await body()
        } catch let error as APIError {
            return error.response
        } catch let error as RTMError {
            return APIError(error).response
        } catch let error as HTTPError where error.status == .notFound {
            return APIError(.notFound, "noSuchPath", "there is nothing at this path with this method")
                .response
        } catch let error as HTTPError {
            return APIError(error.status, "http", error.body ?? error.status.reasonPhrase).response
        } catch {
            return APIError(
                .internalServerError, "internal", "the request failed for a cause that has no name"
            )
            .response
        }
    }
}
