package import RTMAccessToken
package import RTMModel

/// An app with a certificate, and tokens for its users. Both texts are the sample values of the reference's
/// own token builders.
package enum SampleApp {
    package static let id = "970CA35de60c44645bbae8a215061b33"
    package static let certificate = "5CFd2fd1755d40ecb72977518be15d3b"
    package static let otherCertificate = "ffffffffffffffffffffffffffffffff"

    /// Decides about its tokens.
    package static let verifier = TokenVerifier(appID: id, certificate: certificate)

    /// - Parameters:
    /// - endsAt: the end of the token in seconds since 1970 (UTC). It is issued ten minutes before.
    /// - permissions: lists that make it an RTM2 token.
    package static func token(
        for user: String, endsAt: UInt64, permissions: TokenPermissions? = nil, appID: String = id,
        certificate: String = certificate
    ) throws(RTMError) -> String {
        let privileges = [TokenService.Privilege.login: UInt32(0)]
        let service =
            if let permissions {
                TokenService(.rtm2(user: user, permissions: permissions), privileges: privileges)
            } else {
                TokenService(.rtm(user: user), privileges: privileges)
            }
        return try token(endsAt: endsAt, [service], appID: appID, certificate: certificate)
    }

    /// A token that lets a user join a stream channel; an empty user stands for anybody.
    package static func joinToken(
        _ channel: String, for user: String, endsAt: UInt64, publishes: Bool = false
    ) throws(RTMError) -> String {
        var privileges = [TokenService.Privilege.joinChannel: UInt32(0)]
        if publishes { privileges[TokenService.Privilege.publishData] = 0 }
        let service = TokenService(.rtc(channel: channel, user: user), privileges: privileges)
        return try token(endsAt: endsAt, [service])
    }

    package static func token(
        endsAt: UInt64, _ services: [TokenService], appID: String = id, certificate: String = certificate
    ) throws(RTMError) -> String {
        let token = AccessToken(
            appID: appID, issuedAt: UInt32(endsAt - 600), lifetimeSeconds: 600, services: services)
        return try token.signed(with: certificate).text
    }
}

extension TokenPermissions {
    /// Lists of message channels, and of users to whom the holder may write.
    package static func channels(read: [String], write: [String], users: [String] = []) -> TokenPermissions {
        let (reading, writing) = (Access.read.rawValue, Access.write.rawValue)
        return TokenPermissions([
            Resource.messageChannels.rawValue: [reading: read, writing: write],
            Resource.users.rawValue: [writing: users],
        ])
    }
}
