import Hummingbird
import NIOCore
import RTMAccessToken
import RTMAppConfiguration
import RTMCredentials
import RTMModel
import RTMWire
import Synchronization

/// What is known of one HTTP request on its way to the function that answers it.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The id of the request, in its answer and in lines of the log.
    var requestID = ""
    private let caller = Caller()
    /// From where the request came; empty where that has no address. Behind a proxy it is the proxy's.
    let address: String
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
        address = source.channel.remoteAddress?.ipAddress ?? ""
    }

    /// Who calls, and for which app. It is set before any function of an app is called, and all copies of the
    /// context have it: the outermost middleware writes into the answer what the caller has left.
    var client: APIClient? {
        get { caller.client.withLock { $0 } }
        nonmutating set { caller.client.withLock { $0 = newValue } }
    }

    private final class Caller: Sendable {
        let client = Mutex<APIClient?>(nil)
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
    /// What the one user may do as whom the client may act; nil for a key, which may act as any.
    let rights: UserRights?
    var user: String? { rights?.userID }
    /// The key that the client holds; nil for the user of a token.
    let key: APIKeyRecord?

    init(_ record: APIKeyRecord, app: String) {
        (scopes, self.app, name) = (record.scopes, app, "key \(record.id)")
        (channels, rights, key) = (record.channels, nil, record)
    }

    /// A user of a token, who may do what users of the client library may.
    init(_ rights: UserRights, app: String) {
        (scopes, self.app, name) = ([.read, .publish], app, "user \(rights.userID)")
        (channels, self.rights, key) = (nil, rights, nil)
    }

    /// Whether the client may have a call carried out that an edge would pass on for a user. The holder of a
    /// key may, within its scopes; a user has the rights of a session that has joined no stream channel
    /// (D-15, D-16, K-9, K-18).
    ///
    /// - Parameter frame: the ClientFrame that has the call.
    func checkCall(_ frame: ByteBuffer) throws {
        guard let rights else { return }
        let checked: Void?
        do {
            checked = try frame.withUnsafeReadableBytes { bytes in
                try ClientCall.inside(bytes) { try rights.check($0) { _ in false } }
            }
        } catch let error as RTMError {
            throw APIError(forbidden: error)
        } catch is WireError {
            throw APIError(.badRequest, "invalidBody", "a text has a NUL")
        }
        guard checked != nil else { throw RTMError.unexpectedAnswer }
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

/// What a token lets its user do, by the rules of edges.
struct UserRights: RightsHolder, Sendable {
    let userID: String
    let grant: TokenGrant?
    let policies: ForeignPolicies
}
