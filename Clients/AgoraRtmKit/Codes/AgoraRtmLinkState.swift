import RTMClient

/// The state of the connection between the client and its servers.
public enum AgoraRtmLinkState: Int, Sendable, Hashable, CaseIterable {
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

extension AgoraRtmLinkState {
    init(_ state: LinkState) { self = AgoraRtmLinkState(rawValue: state.rawValue) ?? .idle }
}

/// Which operation caused a change of the link state.
public enum AgoraRtmLinkOperation: Int, Sendable, Hashable, CaseIterable {
    /// The app logs in.
    case login = 0
    /// The app logs out.
    case logout = 1
    /// A stream channel is joined.
    case join = 2
    /// A stream channel is left.
    case leave = 3
    /// The server refused or ended the session.
    case serverReject = 4
    /// The client tries again by itself.
    case autoReconnect = 5
    /// That succeeded.
    case reconnected = 6
    /// A heartbeat had no answer.
    case heartbeatTimeout = 7
    /// The connection was closed.
    case serverTimeout = 8
    /// The network changed.
    case networkChange = 9
}

extension AgoraRtmLinkOperation {
    init(_ operation: LinkOperation) { self = AgoraRtmLinkOperation(rawValue: operation.rawValue) ?? .login }
}
