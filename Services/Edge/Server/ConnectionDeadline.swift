import NIOCore
import RTMWire

/// When a silent connection ends (S-41, and the handshake's limit). Pure: it is told the time.
///
/// A connection has one place in its loop's `DeadlineWheel`, at the deadline that `check` returned last. A
/// sign of life only moves the deadline; whoever asks finds out then, so a busy connection costs no timer
/// work.
struct ConnectionDeadline {
    private var deadline: NIODeadline
    /// How long the client may be silent; nil until it has logged in.
    private var silenceMax: TimeAmount?

    /// - Parameter handshakeTimeout: time from the connection's start to an accepted login.
    init(now: NIODeadline, handshakeTimeout: TimeAmount) {
        deadline = now + handshakeTimeout
    }

    mutating func loggedIn(now: NIODeadline, heartbeatInterval: TimeAmount, grace: TimeAmount) {
        let silenceMax = heartbeatInterval + grace
        self.silenceMax = silenceMax
        deadline = now + silenceMax
    }

    /// Any frame of the client shows that it lives.
    mutating func heard(now: NIODeadline) {
        if let silenceMax { deadline = now + silenceMax }
    }

    enum Verdict: Equatable {
        case alive(until: NIODeadline)
        case expired(Disconnect)
    }

    func check(now: NIODeadline) -> Verdict {
        if now < deadline { return .alive(until: deadline) }
        guard let silenceMax else {
            return .expired(Disconnect(.handshakeTimeout, "no login was accepted in time"))
        }
        let seconds = silenceMax.nanoseconds / 1_000_000_000
        return .expired(Disconnect(.heartbeatTimeout, "nothing was heard from the client for \(seconds) s"))
    }
}
