import NIOCore
import RTMServiceLink
import RTMWire

/// When a connection has to end: because its client is silent (S-41), because it doesn't read what waits for
/// it, because no login was accepted in time, or because its token has expired (S-51). Pure: the
/// time is a parameter.
///
/// A connection has one entry in its loop's `DeadlineWheel`, at the deadline that `check` returned last. A
/// frame of the client only moves the deadline; the next check notices that, so a busy connection costs no
/// timer work.
struct ConnectionDeadline {
    private var deadline: NIODeadline
    /// How long the client may be silent; nil until it has logged in.
    private var silenceMax: TimeAmount?
    private var reading: WriteProgress
    /// Nil if the session has no token, and until the client has logged in.
    private var token: TokenClock?

    /// - Parameters:
    ///   - handshakeTimeout: time from the connection's start to an accepted login.
    ///   - outboundTimeout: how long a client may leave what waits for it unread.
    init(now: NIODeadline, handshakeTimeout: TimeAmount, outboundTimeout: TimeAmount = .seconds(60)) {
        deadline = now + handshakeTimeout
        reading = WriteProgress(timeout: outboundTimeout)
    }

    /// The socket didn't take so many bytes, perhaps because others wait before them.
    mutating func stalls(_ bytes: Int, behindOthers: Bool, now: NIODeadline) {
        if !behindOthers { reading.ended() }
        reading.added(bytes, now: now)
    }

    /// So many bytes still wait for the socket. A client that reads slowly is not one that doesn't read.
    mutating func stillWaiting(_ bytes: Int, now: NIODeadline) {
        reading.waits(bytes, now: now)
    }

    mutating func stallEnded() { reading.ended() }

    mutating func loggedIn(now: NIODeadline, heartbeatInterval: TimeAmount, grace: TimeAmount) {
        let silenceMax = heartbeatInterval + grace
        self.silenceMax = silenceMax
        deadline = now + silenceMax
    }

    /// Any frame of the client shows that it lives.
    mutating func frameReceived(now: NIODeadline) {
        if let silenceMax { deadline = now + silenceMax }
    }

    /// Called at login and at every renewal.
    ///
    /// - Parameter expiresAt: UTC, in milliseconds since 1970; nil if there is no token that could expire.
    mutating func tokenAccepted(expiresAt: UInt64?) {
        guard let expiresAt else {
            token = nil
            return
        }
        if token == nil { token = TokenClock(expiresAt: expiresAt) }
        token?.renewed(expiresAt: expiresAt)
    }

    enum Verdict: Equatable {
        case alive(until: NIODeadline)
        /// The client has to be warned, once. `check` has to be called again then.
        case tokenWillExpire(in: Duration)
        case expired(Disconnect)
    }

    /// - Parameter utc: the wall clock, in milliseconds since 1970.
    mutating func check(now: NIODeadline, utc: UInt64) -> Verdict {
        guard now < deadline else { return .expired(silence) }
        let unread = reading.deadline ?? .distantFuture
        guard now < unread else { return .expired(Self.unread) }
        switch token?.check(now: utc) {
        case nil: return .alive(until: min(deadline, unread))
        case .valid(let duration): return .alive(until: min(deadline, unread, now + TimeAmount(duration)))
        case .willExpire(let remaining): return .tokenWillExpire(in: remaining)
        case .expired:
            return .expired(Disconnect(.tokenExpired, "the token has expired; log in with a new one"))
        }
    }

    private static let unread = Disconnect(
        .slowConsumer, "you have not read what waits for you for too long; resume from your positions")

    private var silence: Disconnect {
        guard let silenceMax else {
            return Disconnect(.handshakeTimeout, "no login was accepted in time")
        }
        let seconds = silenceMax.nanoseconds / 1_000_000_000
        return Disconnect(.heartbeatTimeout, "no frame came from the client for \(seconds) s")
    }
}
