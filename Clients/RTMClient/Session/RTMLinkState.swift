/// The state of a client's link to its servers (behaviour.md 2.3). The numbers are those of the compatible
/// API.
public enum RTMLinkState: Int, Sendable, Hashable, CaseIterable {
    /// The client has never logged in, or has logged out.
    case idle = 0
    /// An attempt to connect and log in is under way.
    case connecting = 1
    /// The client is logged in. Calls work and events arrive.
    case connected = 2
    /// The connection was lost less than two minutes ago, or no server has been reached yet. Attempts follow
    /// by themselves.
    case disconnected = 3
    /// The connection has been lost for more than two minutes. An attempt follows every 30 seconds.
    case suspended = 4
    /// The client has given up, because another attempt would end the same way. Only a new `login` leaves
    /// this state.
    case failed = 5
}

/// What changed the link state.
public enum LinkOperation: Int, Sendable, Hashable, CaseIterable {
    /// A call of `login`.
    case login = 0
    /// A call of `logout`.
    case logout = 1
    /// A join of a stream channel.
    case join = 2
    /// A leave of a stream channel.
    case leave = 3
    /// The server has refused or ended the session.
    case serverReject = 4
    /// The client connects again by itself.
    case autoReconnect = 5
    /// The client has connected again.
    case reconnected = 6
    /// A heartbeat had no answer in time.
    case heartbeatTimeout = 7
    /// The server didn't answer in time.
    case serverTimeout = 8
    /// The network of the device changed.
    case networkChange = 9
}
