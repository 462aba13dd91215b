import Hummingbird
import NIOCore
import RTMAPIKey
import RTMModel

/// What is known of one HTTP request on its way to the function that answers it.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who calls, and for which app. It is set before any function of an app is called.
    var client: APIClient?
    /// From where the request came; empty where that has no address. Behind a proxy it is the proxy's.
    let address: String
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        address = source.channel.remoteAddress?.ipAddress ?? ""
    }

    /// A key or a token was accepted: from now on the connection keeps its place when others want it.
    func credentialAccepted() { channel.pipeline.fireUserInboundEventTriggered(CredentialAccepted()) }
}

/// The holder of an API key, or the user of a token.
final class APIClient: Sendable {
    let scopes: Set<APIScope>
    let app: String
    /// The name for logs and audits: `key ID` or `user ID`.
    let name: String
    /// Channels whose names begin otherwise are out of reach. Nil: no restriction.
    let channels: String?
    /// The one user that the client may act as; nil for a key, which may act as any.
    let user: String?

    init(_ record: APIKeyRecord, app: String) {
        (scopes, self.app, name) = (record.scopes, app, "key \(record.id)")
        (channels, user) = (record.channels, nil)
    }

    /// A user of a token, who may do what users of the client library may.
    init(user: String, app: String) {
        (scopes, self.app, name) = ([.read, .publish], app, "user \(user)")
        (channels, self.user) = (nil, user)
    }

    func require(_ scope: APIScope) throws(APIError) {
        guard scopes.contains(scope) || scopes.contains(.admin) else { throw APIError.missing(scope) }
    }

    /// - Throws: if the name is none, and if the key is for other channels, or for channels and not for
    ///   users.
    func check(_ channel: ChannelKey) throws(APIError) {
        do throws(RTMError) {
            let isUser = channel.type == .user || channel.type == .none
            try (isUser ? NameRule.user : .channel).check(channel.name.utf8)
        } catch {
            throw APIError(error)
        }
        guard let channels else { return }
        guard channel.type != .user, channel.type != .none, reaches(channel.name) else {
            throw APIError(
                .forbidden, "channelOutOfReach",
                "the key is only for channels whose names begin with \"\(channels)\"")
        }
    }

    /// Whether a channel's name begins as the key demands, byte by byte.
    func reaches(_ channel: String) -> Bool { channels.map { channel.utf8.starts(with: $0.utf8) } ?? true }

    /// As whom the client acts; nil if nobody is named, and the client may act as anybody.
    ///
    /// - Parameter named: the user whom the request names.
    func actingUser(_ named: String?) throws(APIError) -> String? {
        if let named {
            do throws(RTMError) { try NameRule.user.check(named.utf8) } catch { throw APIError(error) }
        }
        guard let user else { return named }
        guard named == nil || named == user else {
            throw APIError(.forbidden, "anotherUser", "the token is for the user \"\(user)\"")
        }
        return user
    }
}
