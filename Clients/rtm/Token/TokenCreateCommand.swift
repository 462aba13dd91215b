import ArgumentParser
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

    @OptionGroup var permissions: PermissionOptions
    @OptionGroup var options: TokenOptions

    func validate() throws {
        guard expire >= .seconds(1), expire.components.attoseconds == 0 else {
            throw ValidationError("--expire is a number of whole seconds, 1s or more")
        }
        if streamPublish, streamChannel.isEmpty {
            throw ValidationError("--stream-publish needs --stream-channel")
        }
    }

    func run() async throws {
        try await options.run {
            let issuedAt = UInt32(clamping: WallClock.milliseconds() / 1000)
            let signed = try token(for: options.credentials(), issuedAt: issuedAt)
            try await options.output.result(signed.text, "result", signed.creationJSON)
        }
    }

    /// - Throws: `.invalidAppId` (-10003), `.invalidUserId` (-10006), `.invalidChannelName` (-10008) or
    ///   `.invalidParameter` (-10014) for a value that is missing or invalid.
    func token(for credentials: TokenCredentials, issuedAt: UInt32) throws(RTMError) -> SignedToken {
        guard let appID = credentials.appID else { throw .missing("--app-id", "RTM_APP_ID") }
        guard let userID = credentials.userID else { throw .missing("--user", "RTM_USER") }
        guard let certificate = credentials.certificate else {
            throw .missing("--certificate-file or --certificate", "RTM_CERTIFICATE or RTM_CERTIFICATE_FILE")
        }
        try NameRule.user.check(userID.utf8)
        for channel in streamChannel { try NameRule.channel.check(channel.utf8) }
        try permissions.checkNames()
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
