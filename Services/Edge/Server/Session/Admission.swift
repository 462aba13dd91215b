import RTMAccessToken
import RTMModel
import RTMServiceKit
import RTMWire

/// An app that this installation serves. All of its sessions refer to one value, which is about as large as
/// all else that a session has.
final class Application: Sendable {
    let id: String
    /// The key that its tokens 007 are signed with; nil if it takes none.
    let certificate: String?
    /// Checks its JWTs; nil if it takes none.
    let jwt: JWTVerifier?
    /// How many message channels one session may be subscribed to (L-24).
    let subscriptionsMax: Int
    let rates: ApplicationRates
    /// How many sessions of the app there may be at this edge; 0 means that there is no limit (L-42).
    let sessionsMax: Int
    /// How long a token lives at most, counted from its issue; zero means that there is no limit (L-50).
    let tokenLifeMax: Duration
    let policies: ForeignPolicies
    /// What of the system is switched on for the app (S-4).
    let service: AppService

    init(
        id: String, certificate: String?, jwt: JWTVerifier? = nil, subscriptionsMax: Int,
        rates: ApplicationRates, sessionsMax: Int = 0, tokenLifeMax: Duration = .zero,
        policies: ForeignPolicies = ForeignPolicies(),
        service: AppService = .all
    ) {
        self.id = id
        self.certificate = certificate
        self.jwt = jwt
        self.subscriptionsMax = subscriptionsMax
        self.rates = rates
        self.sessionsMax = sessionsMax
        self.tokenLifeMax = tokenLifeMax
        self.policies = policies
        self.service = service
    }

    /// Whether its users need a token. Otherwise the app id itself is the credential (S-2).
    var needsToken: Bool { certificate != nil || jwt != nil }

    /// What the credential gives to the user: the grant of a token. Where the app needs none it is nil, which
    /// means that nothing expires and nothing is restricted.
    ///
    /// - Parameter nowMilliseconds: UTC, since 1970.
    /// - Throws: the first check of a token that fails, in words (S-3, A-19).
    func grant(for credential: String, userID: String, nowMilliseconds: UInt64) throws(RTMError)
        -> TokenGrant?
    {
        switch try kind(of: credential) {
        case .token(let verifier):
            return try verifier.verify(credential, userID: userID, nowMilliseconds: nowMilliseconds)
        case .jwt(let verifier):
            return try verifier.verify(credential, userID: userID, nowMilliseconds: nowMilliseconds)
        case .appID: return nil
        }
    }

    /// What a credential is, by its form, and who decides about it.
    enum Credential {
        case token(TokenVerifier)
        case jwt(JWTVerifier)
        case appID
    }

    func kind(of credential: String) throws(RTMError) -> Credential {
        if let jwt, certificate == nil || SignedJWT.isOne(credential) { return .jwt(jwt) }
        if let certificate {
            return .token(TokenVerifier(appID: id, certificate: certificate, lifeMax: tokenLifeMax))
        }
        guard credential.isEmpty || credential == id else {
            throw RTMError(
                .invalidToken,
                "app \"\(id)\" has no certificate, so its credential is the app id or none, not a token")
        }
        return .appID
    }
}

/// Decides who may log in (S-1 to S-3). Pure: the apps come from the configuration.
struct Admission: Sendable {
    private let applications: [String: Application]

    init(_ applications: [Application]) {
        self.applications = Dictionary(applications.map { ($0.id, $0) }) { _, last in last }
    }

    func application(_ id: String) -> Application? { applications[id] }

    /// Returns the app that the login is for, and what its token gives. Throws the refusal that the client
    /// gets as its answer.
    @discardableResult
    func admit(
        appID: String, userID: String, token: String, nowMilliseconds: UInt64
    ) throws(RTMError) -> (application: Application, grant: TokenGrant?) {
        guard let application = applications[appID] else {
            throw RTMError(.invalidAppId, "this server has no app \"\(appID.prefix(64))\"")
        }
        guard application.service != .none else {
            throw RTMError(.loginNotAuthorized, "the service is switched off for app \"\(appID)\"")
        }
        try NameRule.user.check(userID.utf8)
        let grant = try application.grant(for: token, userID: userID, nowMilliseconds: nowMilliseconds)
        return (application, grant)
    }
}
