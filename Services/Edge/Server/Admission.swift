import RTMModel
import RTMWire

/// An app that this installation serves.
struct Application: Sendable, Hashable {
    let id: String
    /// The key that its tokens are signed with. Without one the app id itself is the credential (S-2).
    let certificate: String?
    /// Message channels that one session may be subscribed to (L-24).
    let subscriptionsMax: Int
    let rates: ApplicationRates
}

/// Decides who may log in (S-1 … S-3). Pure: the apps come from the configuration.
struct Admission: Sendable {
    private let applications: [String: Application]

    init(_ applications: [Application]) {
        self.applications = Dictionary(applications.map { ($0.id, $0) }) { _, last in last }
    }

    /// The app that the login is for. Throws the refusal that the client gets as the answer.
    @discardableResult
    func admit(appID: String, userID: String, token: String) throws(RTMError) -> Application {
        guard let application = applications[appID] else {
            throw RTMError(.invalidAppId, "this server has no app \"\(appID.prefix(64))\"")
        }
        try NameRule.user.check(userID.utf8)
        guard application.certificate == nil else {
            // Verifying tokens is the next stone; until it is laid nobody gets into an app that asks for
            // them.
            throw RTMError(
                .invalidToken, "app \"\(appID)\" has a certificate, and this server can't verify tokens yet")
        }
        guard token.isEmpty || token == appID else {
            throw RTMError(
                .invalidToken,
                "app \"\(appID)\" has no certificate, so its credential is the app id or none, not a token")
        }
        return application
    }
}
