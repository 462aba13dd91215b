import RTMClient

extension AgoraRtmClientKit {
    /// Connects and logs in; afterwards the client stays logged in by itself until `logout`, `destroy` or a
    /// fatal cause.
    ///
    /// May be called again, also while connected (S-7); an earlier login that is still under way then fails
    /// (S-6).
    ///
    /// - Parameters:
    ///   - token: nil or empty sends the app id, which serves apps without certificate (S-1).
    ///   - completionBlock: errors are -10023 replaced by a newer `login` or by `logout`, -10011 no server
    ///     reached within two minutes (attempts go on, S-13) or within `reconnectTimeout`, and the server's
    ///     refusals -10003, -10005, -10006, -10009, -10010, -10012, -10015, -10016.
    @preconcurrency
    public func login(_ token: String?, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        begin("login", completionBlock, Self.login(token))
    }

    /// See ``login(_:completion:)``.
    @discardableResult
    public func login(_ token: String?) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("login", Self.login(token))
    }

    /// Ends the session: others see the user leave at once; subscriptions end (S-22). -10002 when not logged
    /// in.
    @preconcurrency
    public func logout(_ completionBlock: AgoraRtmOperationBlock? = nil) {
        begin("logout", completionBlock, Self.logout)
    }

    /// See ``logout(_:)``.
    @discardableResult
    public func logout() async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("logout", Self.logout)
    }

    /// Replaces the token of the login, before it expires; the link doesn't change. A token that is refused
    /// changes nothing: the session lives on until the end of the old one (S-52).
    ///
    /// - Parameter completionBlock: errors are -10005 no valid token for this app and user, -10009 expired,
    ///   -10015 not for this service, -10016 of another app, -11038 it takes away what is subscribed, -10021
    ///   more than twice a second, -10002 not logged in, -10025 not connected, -10026 no answer in time.
    @preconcurrency
    public func renewToken(_ token: String, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        begin("renewToken", completionBlock, Self.renewToken(token))
    }

    /// See ``renewToken(_:completion:)``.
    @discardableResult
    public func renewToken(_ token: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("renewToken", Self.renewToken(token))
    }

    private static func login(_ token: String?) -> Call<Void> {
        { client in try await client.login(token: token.flatMap { $0.isEmpty ? nil : $0 }) }
    }

    private static func renewToken(_ token: String) -> Call<Void> {
        { client in try await client.renewToken(token) }
    }

    private static let logout: Call<Void> = { client in try await client.logout() }
}

extension AgoraRtmClientKit {
    /// The version of this library, after the version of the API it is compatible with.
    public static func getVersion() -> String { "2.2.4+heliograph.0.1.0" }

    /// What an error code means in general.
    public static func getErrorReason(_ errorCode: AgoraRtmErrorCode) -> String? { errorCode.generalReason }
}
