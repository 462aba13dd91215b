import RTMModel

/// What the link-state machine has to know before it begins.
struct LinkParameters: Sendable {
    var timing = LinkTiming()
    var serverCount = 1
    /// How long connecting to one server and logging in may take, and restoring the subscriptions again.
    var attemptTimeout: Duration = .seconds(10)
    /// When the link fails for good (T17). `nil` means never.
    var reconnectTimeout: Duration?
    /// What a login presents that brings no token. `nil` means the app id.
    var token: String?
}

/// What the link-state machine wants done.
enum LinkAction: Sendable, Equatable {
    /// Announce the change to the app. `state` is the new one already.
    case announce(LinkChange)
    /// Open a connection to the server with this index and log in. Reports about it carry the number.
    case connect(attempt: UInt64, server: Int)
    /// Drop the present connection, go on over the one that stands by, and log in there. Reports about it
    /// carry the number.
    case takeOver(attempt: UInt64, reason: String)
    /// The session goes on over another path, as if nothing had happened.
    case pathChanged
    /// Drop the present connection at once. Calls in flight on it fail.
    case disconnect(reason: String)
    /// Send Logout on the present connection and let it end by itself.
    case sayGoodbye
    /// Present the token of the login on the present connection (S-7).
    case reauthenticate(login: UInt64, token: String)
    case completeLogin(UInt64, RTMError?)
    /// Nothing is to be restored any more (S-22).
    case forgetSubscriptions
}
