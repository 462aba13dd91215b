import NIOCore
import RTMAccessToken
import RTMModel
import RTMWire

/// One login of one user on this edge. Belongs to one event loop.
///
/// The loop's `SubscriptionIndex` has what the session is subscribed to, under its key.
final class Session {
    /// How the loop's cores know the session.
    let key: SessionKey
    let application: Application
    /// How the services behind the edge know the session.
    let caller: Caller
    /// The count of this login among those of the client object; 0 if it isn't counted.
    let attempt: UInt64
    /// The client was logged in before and comes back by itself. The app has not asked for it, so it must not
    /// end the session of another client that has logged in since (S-10).
    let isReturn: Bool
    /// How often the client sends a heartbeat, in seconds.
    let heartbeatInterval: UInt32
    /// How long the user stays listed after a loss, in seconds (L-45).
    let presenceTimeout: UInt32

    /// The session's ownership of its inbox: the number by which presence knows the newest login of a user; 0
    /// until messaging has given one.
    var ownership: UInt64 = 0
    var rates: SessionRates
    /// What the sessions of its app on this loop may publish together.
    let appPublishes: AppPublishShare
    var publishBarriers = PublishBarriers()
    /// Asks the app's hook about what the session publishes; nil if the app has none.
    var hook: HeldPublishes.Gate?
    /// What it has published that messaging has not answered yet.
    var publishShare = PublishWindow.Share()
    /// Whether presence knows of the session.
    var isMember = false
    var catchUpQueue = CatchUpQueue()
    var callQueue = CallQueue()
    /// What the login brought with it, until the login is accepted.
    var loginSubscriptions: LoginSubscriptions?
    /// What storage has to know about the session's end; nil until the session asks for a lock.
    var locks: SessionLocks?
    /// When the tokens end by which it has joined stream channels; nil where none does.
    var joinTokens: JoinTokens?
    /// The metrics of the session's app; nil where they aren't wanted.
    let appMetrics: AppMetrics?
    /// What the session's token gives; nil where the app id is the credential.
    var grant: TokenGrant?
    private(set) var connection: (any SessionConnection)?

    /// - Parameter instance: the number of the client object, the same on every connection of it. By it, a
    ///   return differs from a takeover (S-12b), and what it publishes is known by it. 0 if it is unknown.
    init(
        key: SessionKey, application: Application, userID: String, instance: UInt64 = 0, attempt: UInt64 = 0,
        isReturn: Bool = false, heartbeatInterval: Int,
        presenceTimeout: Int = Limits.presenceTimeout.upperBound, grant: TokenGrant? = nil,
        appPublishes: AppPublishShare = AppPublishShare(of: AppPublishRate(.unlimited)),
        restorable: Restorable = Restorable(), connection: any SessionConnection,
        appMetrics: AppMetrics? = nil
    ) {
        self.key = key
        self.application = application
        self.appPublishes = appPublishes
        rates = SessionRates(restoring: restorable)
        caller = Caller(appID: application.id, userID: userID, session: key.id, instance: instance)
        self.attempt = attempt
        self.isReturn = isReturn
        self.heartbeatInterval = UInt32(heartbeatInterval)
        self.presenceTimeout = UInt32(presenceTimeout)
        self.appMetrics = appMetrics
        self.grant = grant
        self.connection = connection
    }

    var id: SessionID { key.id }
    var appID: String { caller.appID }
    var userID: String { caller.userID }
    var instance: UInt64 { caller.instance }

    /// UTC, milliseconds since 1970; nil where there is no token that could expire.
    var tokenExpiresAt: UInt64? { grant?.expiresAtMilliseconds }

    /// The error that the client of a refused call gets: a refused call counts as one, too
    ///
    func refusal(_ error: RTMError, now: NIODeadline) -> RTMError {
        do throws(RTMError) {
            try rates.call(application.rates, now: now)
            return error
        } catch {
            return error
        }
    }

    // MARK: Names

    var inbox: ChannelKey { ChannelKey(appID: appID, type: .user, name: userID) }

    func metadata(of userID: String) -> ChannelKey { ChannelKey(appID: appID, type: .none, name: userID) }

    func channel(_ name: String, _ type: ChannelType = .message) -> ChannelKey {
        ChannelKey(appID: appID, type: type, name: name)
    }

    // MARK: The socket

    var isEnded: Bool { connection == nil }

    var isWritable: Bool { connection?.isWritable ?? true }

    /// Sends whole frames at the end of the turn.
    func send(_ frames: ByteBuffer) { connection?.send(frames) }

    /// Sends what the client has asked for.
    func send(_ page: RequestedPage) { connection?.send(page) }

    /// Writes whole frames behind what waits for the end of the turn.
    func write(_ encode: (inout ByteBuffer) -> Void) { connection?.write(encode) }

    func acknowledge(_ encode: (inout ByteBuffer) -> Void) { connection?.acknowledge(encode) }

    func answer(_ requestID: UInt64, _ body: some ServerFrameBody) {
        write { ServerFrame(body, answering: requestID).encodeFrame(into: &$0) }
    }

    /// Nothing is sent after this.
    func end() {
        connection = nil
        callQueue.removeAll()
    }
}
