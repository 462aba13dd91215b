import ArgumentParser
import Foundation
import RTMAccessToken
import RTMClient
import RTMModel

struct TokenCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a token with which a user can log in.",
        discussion:
            """
            The token is the only line on standard output. A person who has it can log in as that user until \
            it expires.

            A token restricts nothing unless it lists channels or users. As soon as it lists one, everything \
            that it doesn't list is forbidden. Reading is to subscribe and to ask, writing is to publish and \
            to change.

            With --jwt-key the token is a JWT, as an identity provider makes it, to try out an app that takes \
            such tokens.
            """
    )

    @Option(
        help: .init("How long the token is valid, from now on.", valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var expire: Duration = .seconds(3600)

    @Option(help: .init("Stream channel that the user may join; repeat it for others.", valueName: "name"))
    var streamChannel: [String] = []

    @Flag(help: "Let the user also publish in these stream channels.")
    var streamPublish = false

    @Option(
        help: .init(
            "Make a JWT, signed with the key in this file: a private key in PEM, of RSA or P-256, or a secret as "
                + "JWK.", valueName: "file"))
    var jwtKey: String?

    @Option(help: .init("Name of that key (kid).", valueName: "name"))
    var jwtKeyID: String?

    @OptionGroup var jwt: JWTOptions
    @OptionGroup var permissions: PermissionOptions
    @OptionGroup var options: TokenOptions

    func validate() throws {
        guard expire >= .seconds(1), expire.components.attoseconds == 0 else {
            throw ValidationError("--expire is a number of whole seconds, 1s or more")
        }
        if streamPublish, streamChannel.isEmpty {
            throw ValidationError("--stream-publish needs --stream-channel")
        }
        if jwtKey == nil, jwtKeyID ?? jwt.jwtIssuer ?? jwt.jwtAudience != nil {
            throw ValidationError("what is said about a JWT needs --jwt-key")
        }
    }

    func run() async throws {
        try await options.run {
            let issuedAt = UInt32(clamping: WallClock.milliseconds() / 1000)
            if let jwtKey {
                let key = try JWTOptions.key(
                    "--jwt-key", at: jwtKey, { try String(contentsOfFile: $0, encoding: .utf8) }
                ) { text throws(JWTKeyProblem) in try JWTSigningKey(text, id: jwtKeyID) }
                let claims = try claims(for: options.credentials(), issuedAt: issuedAt)
                let text = try claims.signed(with: key)
                try await options.output.result(text, "result", claims.creationJSON(of: text))
            } else {
                let signed = try token(for: options.credentials(), issuedAt: issuedAt)
                try await options.output.result(signed.text, "result", signed.creationJSON)
            }
        }
    }

    /// What a JWT says in place of a token 007.
    ///
    /// - Throws: `.invalidUserId` (-10006), `.invalidChannelName` (-10008) or `.invalidParameter` (-10014)
    ///   for a value that is missing or invalid.
    func claims(for credentials: TokenCredentials, issuedAt: UInt32) throws(RTMError) -> JWTClaims {
        guard let audience = jwt.jwtAudience ?? credentials.appID else {
            throw .missing("--app-id or --jwt-audience", "RTM_APP_ID")
        }
        guard let userID = credentials.userID else { throw .missing("--user", "RTM_USER") }
        try checkNames(userID)
        var claims = JWTClaims()
        claims.subject = userID
        claims.issuer = jwt.jwtIssuer
        claims.audience = [audience]
        claims.issuedAt = UInt64(issuedAt) * 1000
        claims.expiresAt = UInt64(issuedAt) * 1000 + UInt64(expire.components.seconds) * 1000
        claims.permissions = permissions.lists
        claims.joins = streamChannel
        claims.publishesData = streamPublish ? streamChannel : []
        return claims
    }

    private func checkNames(_ userID: String) throws(RTMError) {
        try NameRule.user.check(userID.utf8)
        for channel in streamChannel { try NameRule.channel.check(channel.utf8) }
        try permissions.checkNames()
    }

    /// - Throws: `.invalidAppId` (-10003), `.invalidUserId` (-10006), `.invalidChannelName` (-10008) or
    ///   `.invalidParameter` (-10014) for a value that is missing or invalid.
    func token(for credentials: TokenCredentials, issuedAt: UInt32) throws(RTMError) -> SignedToken {
        guard let appID = credentials.appID else { throw .missing("--app-id", "RTM_APP_ID") }
        guard let userID = credentials.userID else { throw .missing("--user", "RTM_USER") }
        guard let certificate = credentials.certificate else {
            throw .missing("--certificate-file or --certificate", "RTM_CERTIFICATE or RTM_CERTIFICATE_FILE")
        }
        try checkNames(userID)
        let lifetime = UInt32(clamping: expire.components.seconds)
        let login = TokenService(
            permissions.loginService(of: userID), privileges: [TokenService.Privilege.login: lifetime])
        let channels = streamChannel.map { channel in
            TokenService(.rtc(channel: channel, user: userID), privileges: streamPrivileges(lifetime))
        }
        return try AccessToken(
            appID: appID, issuedAt: issuedAt, lifetimeSeconds: lifetime, services: channels + [login]
        ).signed(with: certificate)
    }

    private func streamPrivileges(_ lifetime: UInt32) -> [UInt16: UInt32] {
        var privileges = [TokenService.Privilege.joinChannel: lifetime]
        if streamPublish { privileges[TokenService.Privilege.publishData] = lifetime }
        return privileges
    }
}

extension RTMError {
    fileprivate static func missing(_ option: String, _ variable: String) -> RTMError {
        RTMError(.invalidParameter, "\(option) is needed, or \(variable)", operation: "token")
    }
}

extension SignedToken {
    fileprivate var creationJSON: JSON {
        [
            "result": "ok", "token": .string(text), "appId": .string(token.appID),
            "issuedAt": .number(token.issuedAt), "expiresAt": .number(token.expiresAt),
        ]
    }
}

extension JWTClaims {
    fileprivate func creationJSON(of text: String) -> JSON {
        [
            "result": "ok", "token": .string(text), "audience": .strings(audience),
            "issuedAt": .number((issuedAt ?? 0) / 1000), "expiresAt": .number((expiresAt ?? 0) / 1000),
        ]
    }
}
