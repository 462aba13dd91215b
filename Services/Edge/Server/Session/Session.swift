import NIOCore
import RTMAccessToken
import RTMModel
import RTMWire

/// One login of one user on this edge, and what it is subscribed to. Belongs to one event loop.
final class Session {
    let id: SessionID
    let application: Application
    let userID: String
    /// Of the client object, on every connection of it: it tells a return from a takeover (S-12b), and what
    /// it publishes is known by it. 0 = unknown.
    let instance: UInt64
    /// Counts the logins of the instance; 0 = not counted.
    let attempt: UInt64
    /// How often the client will send a heartbeat, in seconds.
    let heartbeatInterval: Int
    /// How long the user stays listed after a loss, in seconds (L-45).
    let presenceTimeout: Int

    /// By place of the channel in the loop's index.
    var subscriptions: [Int: Subscription] = [:]
    /// How many of them are live, the inbox among them, and users' metadata not.
    var liveSubscriptions = 0
    /// How many users' metadata it is subscribed to (L-38).
    var liveMetadata = 0
    var rates = SessionRates()
    var publishBarrier = PublishBarrier()
    /// Names of the message channels that a subscribe is under way for.
    var entering: Set<String> = []
    /// Users whose metadata a subscribe is under way for.
    var enteringMetadata: Set<String> = []
    /// Presence has been told of it.
    var isMember = false
    /// What storage has to know about its end; nil until it asks for a lock.
    var locks: SessionLocks?
    private(set) var connection: (any SessionConnection)?
    /// What its token gives; nil where the app id is the credential.
    var grant: TokenGrant?

    struct Subscription {
        /// The request that began it. A step of an older request finds another number here, and stops.
        let requestID: UInt64
        /// Where the session stands in the channel's list of subscribers; nil while it is still entering.
        var place: Int?
        /// Where it stood when it was taken out of the list to come in again; nil of a new one.
        var pausedAt: StreamPosition?
        var isQuiet = false
        /// Others got new snapshots of who is there while it was taken out.
        var lacksSnapshot = false

        init(
            requestID: UInt64, place: Int? = nil, pausedAt: StreamPosition? = nil, isQuiet: Bool = false,
            lacksSnapshot: Bool = false
        ) {
            self.requestID = requestID
            self.place = place
            self.pausedAt = pausedAt
            self.isQuiet = isQuiet
            self.lacksSnapshot = lacksSnapshot
        }
    }

    /// Its client was logged in before and comes back: the app has not asked for it, so it must not end the
    /// session of another client that has logged in since (S-10).
    let isReturn: Bool

    init(
        id: SessionID, application: Application, userID: String, instance: UInt64 = 0, attempt: UInt64 = 0,
        isReturn: Bool = false,
        heartbeatInterval: Int,
        presenceTimeout: Int = Limits.presenceTimeout.upperBound,
        grant: TokenGrant? = nil, connection: any SessionConnection
    ) {
        self.presenceTimeout = presenceTimeout
        self.id = id
        self.application = application
        self.userID = userID
        self.instance = instance
        self.attempt = attempt
        self.isReturn = isReturn
        self.heartbeatInterval = heartbeatInterval
        self.grant = grant
        self.connection = connection
    }

    var isEnded: Bool { connection == nil }

    /// Sends whole frames at the end of the turn.
    func send(_ frames: ByteBuffer) { connection?.send(frames) }

    var hasRoom: Bool { connection?.hasRoom ?? true }

    /// Writes whole frames behind what waits for the end of the turn.
    func write(_ encode: (inout ByteBuffer) -> Void) { connection?.write(encode) }

    func answer(_ requestID: UInt64, _ body: some ServerFrameBody) {
        write { ServerFrame(body, answering: requestID).encodeFrame(into: &$0) }
    }

    var appID: String { application.id }

    /// As the services behind the edge know it.
    var caller: Caller { Caller(appID: appID, userID: userID, session: id, instance: instance) }

    /// UTC, milliseconds since 1970; nil where there is no token that could expire.
    var tokenExpiresAt: UInt64? { grant?.expiresAtMilliseconds }

    func inbox() -> ChannelKey { ChannelKey(appID: appID, type: .user, name: userID) }

    func metadata(of userID: String) -> ChannelKey { ChannelKey(appID: appID, type: .none, name: userID) }

    func channel(_ name: String) -> ChannelKey { ChannelKey(appID: appID, type: .message, name: name) }

    /// Nothing is sent after this.
    func end() { connection = nil }
}

/// The socket side of a session.
protocol SessionConnection: AnyObject {
    /// Adds whole frames to what is written at the end of the turn.
    func send(_ frames: ByteBuffer)
    /// Has whole frames written behind them.
    func write(_ encode: (inout ByteBuffer) -> Void)
    /// The session's inbox is attached: from here on messages reach the user.
    func loginSucceeded(_ session: Session, inbox position: StreamPosition, gap: Bool, _ requestID: UInt64)
    func refuseLogin(_ error: RTMError, _ requestID: UInt64)
    /// Whether the client has taken nearly all that was sent: what it has asked for itself waits for that.
    var hasRoom: Bool { get }
    /// Calls when there is room, or when the connection has ended.
    func whenRoom(_ body: @escaping () -> Void)
    /// Says why and closes.
    func disconnect(_ reason: Disconnect)
    /// Closes without a word: its client is here again, with another connection (S-12b).
    func replaced()
}
