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
    case login = 0
    case logout = 1
    case join = 2
    case leave = 3
    case serverReject = 4
    case autoReconnect = 5
    case reconnected = 6
    case heartbeatTimeout = 7
    case serverTimeout = 8
    case networkChange = 9
}
