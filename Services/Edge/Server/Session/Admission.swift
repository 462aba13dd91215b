import RTMAccessToken
import RTMAppConfiguration
import RTMModel
import RTMServiceKit
import RTMWire

/// An app that this installation serves. All of its sessions refer to one value, which is about as large as
/// all else that a session has.
final class Application: Sendable {
    let id: String
    /// Which tokens it takes. Nil if it needs none: then the app id itself is the credential (S-2).
    let tokens: AppTokens?
    /// How many message channels one session may be subscribed to (L-24).
    let subscriptionsMax: Int
    let rates: ApplicationRates
    /// How many sessions of the app there may be at this edge; 0 means that there is no limit (L-42).
    let sessionsMax: Int
    let policies: ForeignPolicies
    /// What of the system is switched on for the app (S-4).
    let service: AppService
    /// Whether the app's events are kept for its backends, and its sessions are among them (W-45).
    let hasEvents: Bool

    init(
        id: String, tokens: AppTokens? = nil, subscriptionsMax: Int, rates: ApplicationRates,
        sessionsMax: Int = 0, policies: ForeignPolicies = ForeignPolicies(), service: AppService = .all,
        hasEvents: Bool = false
    ) {
        self.id = id
        self.tokens = tokens
        self.subscriptionsMax = subscriptionsMax
        self.rates = rates
        self.sessionsMax = sessionsMax
        self.policies = policies
        self.service = service
        self.hasEvents = hasEvents
    }

    /// What the credential gives to the user: the grant of a token. Where the app needs none it is nil, which
    /// means that nothing expires and nothing is restricted.
    ///
    /// - Parameter nowMilliseconds: UTC, since 1970.
    /// - Throws: the first check of a token that fails, in words (S-3, A-19).
    func grant(for credential: String, userID: String, nowMilliseconds: UInt64) throws(RTMError)
        -> TokenGrant?
    {
        guard let tokens else {
            try checkOpen(credential)
            return nil
        }
        return try tokens.verify(credential, userID: userID, nowMilliseconds: nowMilliseconds)
    }

    /// Where the app needs no tokens, its id is the credential, and none will do.
    func checkOpen(_ credential: String) throws(RTMError) {
        guard credential.isEmpty || credential == id else {
            throw RTMError(
                .invalidToken,
                "app \"\(id)\" needs no token, so its credential is the app id or none, not a token")
        }
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
        // `==` takes the Kelvin sign for a K.
        guard let application = applications[appID], application.id.utf8.elementsEqual(appID.utf8) else {
            throw RTMError(.invalidAppId, "this server has no app \"\(appID.cut())\"")
        }
        guard application.service != .none else {
            throw RTMError(.loginNotAuthorized, "the service is switched off for app \"\(appID)\"")
        }
        try NameRule.user.check(userID.utf8)
        let grant = try application.grant(for: token, userID: userID, nowMilliseconds: nowMilliseconds)
        return (application, grant)
    }
}
