import Foundation
import Hummingbird
import RTMAccessToken
import RTMCredentials
import RTMModel
import RTMServiceKit

/// Makes tokens with which users log in. Whoever has a key for all of an app may act as any of its users
/// anyway, so the key gains nothing by it.
struct TokenRoutes: Sendable {
    let api: GatewayAPI

    func add(to group: RouterGroup<GatewayContext>) { group.post("tokens", use: make) }

    struct Order: APIBody {
        var user: String
        /// How long the token is valid; an hour if absent.
        var seconds: UInt32?
        enum CodingKeys: String, CodingKey, CaseIterable { case user, seconds }
    }

    struct Token: Encodable, Sendable {
        /// Empty for an app that needs no tokens.
        let token: String
        /// In milliseconds since 1970; absent for an app that needs no tokens.
        var expiresAt: UInt64?
    }

    /// A token that outlives this has to be made with the certificate.
    private static let secondsMax: UInt32 = 86_400

    @Sendable func make(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let client = try api.admitForUsers(context, .admin)
        let order = try await api.body(Order.self, of: request, by: client)
        do throws(RTMError) { try NameRule.user.check(order.user.utf8) } catch { throw APIError(error) }
        let seconds = order.seconds ?? 3_600
        guard seconds > 0, seconds <= Self.secondsMax else {
            throw APIError(.badRequest, "invalidSeconds", "\"seconds\" is from 1 to \(Self.secondsMax)")
        }
        return Response(json: try token(for: order.user, of: client.app, seconds: seconds))
    }

    private func token(for user: String, of app: String, seconds: UInt32) throws -> Token {
        guard let record = api.authentication.record(of: app) else {
            throw APIError(RTMError(.invalidAppId, "there is no app \"\(app)\" here"))
        }
        guard let certificate = record.certificate else {
            guard !record.takesJWTs else {
                throw APIError(
                    .conflict, "noCertificate",
                    "the app \"\(app)\" takes only JWTs of its identity provider, and the gateway has no key "
                        + "to sign one")
            }
            return Token(token: "")
        }
        let now = UInt32(clamping: WallClock.milliseconds() / 1_000)
        let login = TokenService(.rtm(user: user), privileges: [TokenService.Privilege.login: seconds])
        let token = AccessToken(appID: app, issuedAt: now, lifetimeSeconds: seconds, services: [login])
        return Token(
            token: try token.signed(with: certificate.revealed).text, expiresAt: token.expiresAt * 1_000)
    }
}
