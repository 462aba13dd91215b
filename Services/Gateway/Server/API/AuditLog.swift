import Hummingbird
import Logging
import RTMModel
import RTMServiceKit
import RTMWire

/// Leaves a line in the log for every change that a backend makes or tries: who, what, whom, and with which
/// outcome. What a rate refuses leaves none. docs/http/moderate.md describes the line, which stays as it is.
/// What holders of keys change is also kept by storage (W-31).
struct AuditLog: RouterMiddleware {
    typealias Context = GatewayContext

    let logger: Logger
    let keeper: AuditKeeper

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        guard request.method != .get, request.method != .head, let client = context.client else {
            return try await next(request, context)
        }
        func line(_ outcome: String) {
            let pieces = request.uri.path.split(separator: "/").dropFirst(2)
            let what = [pieces.first, pieces.dropFirst(2).first].compactMap(\.self).joined(separator: " ")
            let line = AuditLine(
                timeMilliseconds: WallClock.milliseconds(), by: client.name, address: context.address,
                what: "\(request.method.rawValue) \(what)", whom: Self.target(request, context),
                outcome: outcome)
            logger.notice(
                "audit",
                metadata: [
                    "by": "\(line.by)", "app": "\(client.app)", "what": "\(line.what)",
                    "whom": "\(line.whom)", "outcome": "\(line.outcome)", "address": "\(line.address)",
                    "request": "\(context.requestID)",
                ])
            if client.user == nil { keeper.keep(line, of: client.app) }
        }
        do {
            let response = try await next(request, context)
            line("\(response.status.code)")
            return response
        } catch {
            let failure = APIError.of(error)
            // Nothing was tried that the caller's rate allows, and lines of it would hide the others.
            guard failure?.status != .tooManyRequests else { throw error }
            line(failure.map { "\($0.status.code) \($0.body.name)" } ?? "500 internal")
            throw error
        }
    }

    /// What the path and the query name, such as `lock leader channel lobby`; of each at most 64 bytes.
    private static func target(_ request: Request, _ context: GatewayContext) -> String {
        var words: [String] = []
        for name in ["user", "lock", "webhook"] {
            if let value = try? context.parameter(name) { words.append("\(name) \(value.cut())") }
        }
        for name in ["channel", "user"] {
            if let value = request.uri.queryParameters.get(name) {
                words.append("\(name) \(value.cut())")
            }
        }
        return words.joined(separator: " ")
    }
}

extension APIError {
    /// Nil for an error without a name.
    fileprivate static func of(_ error: any Error) -> APIError? {
        (error as? APIError) ?? (error as? RTMError).map { APIError($0) }
    }
}
