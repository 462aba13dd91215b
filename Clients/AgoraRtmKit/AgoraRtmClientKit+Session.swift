import RTMClient
import RTMModel

extension AgoraRtmClientKit {
    /// Connects and logs in. Afterwards the client stays logged in by itself until `logout`, `destroy` or a
    /// fatal cause.
    ///
    /// It may be called again, even while connected (S-7). An earlier login that is still under way then
    /// fails (S-6).
    ///
    /// - Parameters:
    ///   - token: the token. Nil or empty sends the app id, which is enough for apps without a certificate
    ///     (S-1).
    ///   - completionBlock: gets `.loginCanceled` (-10023) if a newer `login` or a `logout` replaced this
    ///     login, or `.loginTimeout` (-10011) if no server was reached within two minutes (the client keeps
    ///     trying, S-13) or within `reconnectTimeout`. The server may refuse with `.invalidAppId` (-10003),
    ///     `.invalidToken` (-10005), `.invalidUserId` (-10006), `.tokenExpired` (-10009),
    ///     `.loginNoServerResources` (-10010), `.loginRejected` (-10012), `.loginNotAuthorized` (-10015) or
    ///     `.loginInconsistentAppId` (-10016).
    @preconcurrency
    public func login(_ token: String?, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        begin("login", completionBlock, Self.login(token))
    }

    /// See ``login(_:completion:)``.
    @discardableResult
    public func login(_ token: String?) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("login", Self.login(token))
    }

    /// See ``login(_:completion:)``. The vendor's current samples write the label.
    @preconcurrency
    public func login(token: String?, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        login(token, completion: completionBlock)
    }

    /// See ``login(_:completion:)``.
    @discardableResult
    public func login(token: String?) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await login(token)
    }

    /// Ends the session. Other users see this user leave at once, and subscriptions end (S-22). Without a
    /// login the error is `.notLogin` (-10002).
    @preconcurrency
    public func logout(_ completionBlock: AgoraRtmOperationBlock? = nil) {
        begin("logout", completionBlock, Self.logout)
    }

    /// See ``logout(_:)``.
    @discardableResult
    public func logout() async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("logout", Self.logout)
    }

    /// Replaces the token of the login before it expires; the link doesn't change. A refused token changes
    /// nothing: the session continues until the end of the old token (S-52).
    ///
    /// - Parameter completionBlock: gets `.invalidToken` (-10005) for a token that is not valid for this app
    ///   and user, `.tokenExpired` (-10009), `.loginNotAuthorized` (-10015) for a token of another service,
    ///   `.loginInconsistentAppId` (-10016), `.channelSubscribePermissionDenied` (-11038) if it would take
    ///   away what is subscribed, `.operationRateExceedLimitation` (-10021) for more than two calls per
    ///   second, `.notLogin` (-10002), `.notConnected` (-10025) or `.renewTokenTimeout` (-10026).
    @preconcurrency
    public func renewToken(_ token: String, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        begin("renewToken", completionBlock, Self.renewToken(token))
    }

    /// See ``renewToken(_:completion:)``.
    @discardableResult
    public func renewToken(_ token: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await perform("renewToken", Self.renewToken(token))
    }

    /// See ``renewToken(_:completion:)``. The vendor's current samples write the label.
    @preconcurrency
    public func renewToken(token: String, completion completionBlock: AgoraRtmOperationBlock? = nil) {
        renewToken(token, completion: completionBlock)
    }

    /// See ``renewToken(_:completion:)``.
    @discardableResult
    public func renewToken(token: String) async -> (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?) {
        await renewToken(token)
    }

    /// Says that the device's network changed. A client that is logged in connects anew at once, and one that
    /// waits for its next attempt makes it now (T7). On Apple platforms and on Linux the client notices most
    /// changes by itself. This method is an addition to the API.
    public func networkChanged() {
        begin("networkChanged", nil) { client in client.networkChanged() }
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
    /// The version of this library, after the version of the API with which it is compatible.
    public static func getVersion() -> String { "2.2.4+heliograph.\(Release.version)" }

    /// Takes the private parameters of other deployments, a JSON object. Heliograph has none, so a valid
    /// object has no effect.
    ///
    /// - Returns: `.ok`, `.invalidParameter` (-10014) for anything but a JSON object, or
    ///   `.instanceAlreadyReleased` (-10018) after `destroy()`.
    @discardableResult
    public func setParameters(_ parameter: String) -> AgoraRtmErrorCode {
        guard !isReleased else { return .instanceAlreadyReleased }
        let value = try? JSONSerialization.jsonObject(with: Data(parameter.utf8))
        return value is [String: Any] ? .ok : .invalidParameter
    }

    /// The general meaning of an error code.
    public static func getErrorReason(_ errorCode: AgoraRtmErrorCode) -> String? { errorCode.generalReason }
}
