package import RTMWire

/// Why a link is not up.
package enum ServiceLinkDownReason: Sendable, Hashable {
    /// The link was not started yet.
    case notStarted
    /// No connection could be made.
    case connectFailed(String)
    /// The peer didn't finish the handshake in time.
    case handshakeTimedOut
    /// The peer closed the link and said why. `draining` asks us to connect again.
    case goneAway(ServiceLinkGoAway)
    /// We refused the peer, because it is another service or speaks another version.
    case peerRefused(ServiceLinkGoAway)
    /// The peer sent nothing until the heartbeat deadline.
    case silent
    /// The peer closed the connection without saying why.
    case closedByPeer
    /// The connection broke.
    case broken(String)
    /// The peer sent something that is not a frame, or a frame that doesn't belong here.
    case protocolError(String)
    /// The peer reads too slowly. What waited for it exceeded `queueBytesMax` and was dropped.
    case overflow
    /// This end closed the link.
    case shutDown
}

extension ServiceLinkDownReason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notStarted: "not started"
        case .connectFailed(let why): "no connection: \(why)"
        case .handshakeTimedOut: "the handshake took too long"
        case .goneAway(let goAway): "the peer closed the link: \(goAway)"
        case .peerRefused(let goAway): "this end refused the peer: \(goAway)"
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
    package var description: String { text.isEmpty ? reason.description : text }
}

extension ServiceLinkGoAway.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unspecified: "no reason is given"
        case .draining: "it is shutting down"
        case .version: "the versions of the link differ"
        case .wrongService: "it is another service"
        case .wrongSecret: "the secrets differ"
        case .protocolError: "the protocol was broken"
        case .overflow: "a limit is reached"
        case .unknownNode: "it knows no such node"
        case .unreachable: "it doesn't reach the node either"
        }
    }
}
