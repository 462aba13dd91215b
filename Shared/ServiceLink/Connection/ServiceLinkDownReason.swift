package import RTMWire

/// Why a link is not up.
package enum ServiceLinkDownReason: Sendable, Hashable {
    /// Not started yet.
    case notStarted
    /// No connection came about.
    case connectFailed(String)
    /// The peer didn't finish the handshake in time.
    case handshakeTimedOut
    /// The peer said why it closes. `draining` means: connect again.
    case goneAway(ServiceLinkGoAway)
    /// We refused the peer: it is another service or speaks another version.
    case peerRefused(ServiceLinkGoAway)
    /// Nothing was heard from the peer until the heartbeat deadline.
    case silent
    /// The connection ended without a word.
    case closedByPeer
    /// The connection broke.
    case broken(String)
    /// The peer sent what is not a frame or doesn't belong here.
    case protocolError(String)
    /// The peer reads too slowly; what waited for it exceeded `queueBytesMax` and was dropped.
    case overflow
    /// Closed at this end.
    case shutDown
}

extension ServiceLinkDownReason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notStarted: "not started"
        case .connectFailed(let why): "no connection: \(why)"
        case .handshakeTimedOut: "the handshake took too long"
        case .goneAway(let goAway): "the peer went away: \(goAway)"
        case .peerRefused(let goAway): "the peer was refused: \(goAway)"
        case .silent: "the peer fell silent"
        case .closedByPeer: "the peer closed the connection"
        case .broken(let why): "the connection broke: \(why)"
        case .protocolError(let what): "the peer broke the protocol: \(what)"
        case .overflow: "the peer reads too slowly"
        case .shutDown: "shut down"
        }
    }
}

extension ServiceLinkGoAway: CustomStringConvertible {
    package var description: String { text.isEmpty ? "\(reason)" : "\(reason), \(text)" }
}
