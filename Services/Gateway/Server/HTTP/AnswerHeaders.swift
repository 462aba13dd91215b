import HTTPTypes
import Hummingbird
import NIOCore
import RTMServiceKit

/// What every answer says beside its body: the request's id, what is left of the rates, and whether a page
/// of another origin may read it (W-80, W-81, W-82). It is the outermost middleware, so that refusals say it
/// too.
struct AnswerHeaders: RouterMiddleware {
    typealias Context = GatewayContext
    let rates: RequestRates
    let origins: AllowedOrigins

    func handle(
        _ request: Request, context: GatewayContext,
        next: @concurrent (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.requestID = RequestID.of(request.headers)
        var response = try await next(request, context)
        response.headers[.requestID] = context.requestID
        if let client = context.client {
            for field in rates.headers(of: client, now: .now()) { response.headers[field.name] = field.value }
        }
        origins.mark(&response, to: request)
        // A body behind the head of an answer to HEAD would be taken for the next answer.
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// The id of a request, with which its answer is found again in the logs of both sides. Pure but for
/// randomness.
enum RequestID {
    /// Limit: characters of an id that a caller chose.
    private static let lengthMax = 128

    /// The caller's own id, if it has one that can stand in a line of a log; otherwise a new one.
    static func of(_ headers: HTTPFields) -> String {
        let values = headers[values: .requestID]
        guard values.count == 1, let own = values.first, isValid(own) else { return made() }
        return own
    }

    private static func isValid(_ text: String) -> Bool {
        (1...lengthMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.:/+=".utf8.contains(byte)
                }
            }
    }

    static func made() -> String {
        [UInt64.random(in: 0 ... .max), .random(in: 0 ... .max)]
            .map { number in
                let digits = String(number, radix: 16)
                return String(repeating: "0", count: 16 - digits.utf8.count) + digits
            }
            .joined()
    }
}

extension RequestRates {
    /// What the caller may still do at once, by the tighter of its own rate and its app's, and in how many
    /// seconds all of that is there again. Empty where there is no limit.
    func headers(of client: APIClient, now: NIODeadline) -> HTTPFields {
        let all = left(to: client, now: now)
        guard let (rate, left) = [all.key, all.app].compactMap(\.self).min(by: { $0.left < $1.left }) else {
            return [:]
        }
        let missing = rate.burst - min(left, rate.burst)
        return [
            .rateLimit: "\(rate.burst)", .rateRemaining: "\(max(0, left))",
            .rateReset: "\((missing + rate.perSecond - 1) / rate.perSecond)",
        ]
    }
}

extension HTTPField.Name {
    static let requestID = Self("x-request-id")!
    static let rateLimit = Self("RateLimit-Limit")!
    static let rateRemaining = Self("RateLimit-Remaining")!
    static let rateReset = Self("RateLimit-Reset")!
}
