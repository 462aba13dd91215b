import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1
import RTMModel
import Synchronization

/// Writes every failure as the one error body, and counts the answers.
struct ErrorAnswers: RouterMiddleware {
    typealias Context = GatewayContext
    let paths: PathTable
    let origins: AllowedOrigins
    let metrics: GatewayMetrics
    let logger: Logger

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response: Response
        do {
            response = try await next(request, context)
        } catch {
            response = answer(to: request, context.requestID, error)
        }
        metrics.answered(response.status.code, after: .now - start)
        return response
    }

    private func answer(to request: Request, _ id: String, _ error: any Error) -> Response {
        switch error {
        case let error as APIError: return error.response(to: id)
        case let error as RTMError: return APIError(error).response(to: id)
        case let error as HTTPError where error.status == .notFound: return nothing(at: request, id)
        case let error as HTTPError:
            return APIError(error.status, "http", error.status.reasonPhrase).response(to: id)
        case is HTTPParserError:
            var response = APIError(.badRequest, "malformed", "the request is not HTTP/1.1").response(to: id)
            response.headers[.connection] = "close"
            return response
        default:
            logger.error(
                "a request failed for a cause without a name",
                metadata: ["cause": "\(error)", "request": "\(id)"])
            return APIError(.internalServerError, "internal", "the request failed; the log has the cause")
                .response(to: id)
        }
    }

    private func nothing(at request: Request, _ id: String) -> Response {
        let methods = paths.methods(at: request.uri.path)
        guard !methods.isEmpty else {
            return APIError(.notFound, "noSuchPath", "there is nothing at this path").response(to: id)
        }
        let names = methods.map(\.rawValue).sorted().joined(separator: ", ")
        if let answer = origins.answer(toQuestion: request, names) { return answer }
        var response = APIError(
            .methodNotAllowed, "methodNotAllowed", "this path has \(names), not \(request.method.rawValue)"
        )
        .response(to: id)
        response.headers[.allow] = names
        return response
    }
}

/// The methods of each path: the framework takes a path without the method for no path at all.
final class PathTable: Sendable {
    private typealias Route = (pieces: [Substring], method: HTTPRequest.Method)

    private let routes = Mutex<[Route]>([])

    /// - Parameter all: paths as the router has them: a piece that begins with a colon stands for any text.
    func take(_ all: [(path: String, method: HTTPRequest.Method)]) {
        let own = all.map { Route(Self.pieces($0.path), $0.method) }
        // The framework answers HEAD wherever there is GET.
        let heads = own.filter { $0.method == .get }.map { Route($0.pieces, .head) }
        routes.withLock { $0 = own + heads }
    }

    func methods(at path: String) -> [HTTPRequest.Method] {
        let pieces = Self.pieces(path)
        return routes.withLock { routes in
            routes.filter { route in
                route.pieces.count == pieces.count
                    && zip(route.pieces, pieces).allSatisfy { $0.first == ":" || $0 == $1 }
            }
            .map(\.method)
        }
    }

    private static func pieces(_ path: String) -> [Substring] {
        path.split(separator: "/").map { $0.hasPrefix("{") ? ":" : $0 }
    }
}
