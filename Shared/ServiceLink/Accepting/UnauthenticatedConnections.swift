package import NIOCore
import NIOSSL
import RTMWire

/// The connections of a listener that haven't proved who they are.
///
/// They cost an attacker nothing, so they have limits of their own: they can't take the places of callers
/// that know the secret. If they are as many as there may be, a newcomer replaces the oldest: a caller that
/// means it ends its handshake within two round trips, long before it is the oldest.
///
/// It is confined to the loop of the listener.
final class UnauthenticatedConnections {
    enum Admission {
        case admitted
        case refused(reason: String)
        /// It is closed without an answer.
        case dropped
    }

    private var members = PendingConnections<UnauthenticatedConnection>()
    private let limiter: ConnectionLimiter
    /// Called whenever a newcomer replaces one of them.
    private let crowded: () -> Void

    init(_ configuration: ServiceLinkServerConfiguration, crowded: @escaping () -> Void) {
        limiter = ConnectionLimiter(
            totalMax: configuration.unauthenticatedMax,
            perAddressMax: configuration.unauthenticatedPerAddressMax,
            refusedMax: configuration.refusedMax)
        self.crowded = crowded
    }

    func admit(_ link: AcceptedServiceLink, over channel: any Channel) -> Admission {
        let address = channel.remoteAddress?.ipAddress ?? ""
        switch limiter.admit(address, makingRoom: endOldest) {
        case .admitted:
            let connection = UnauthenticatedConnection(of: channel, link, address, limiter)
            link.unauthenticated = connection
            members.add(connection)
            channel.closeFuture.assumeIsolated().whenComplete { _ in
                connection.release()
                self.members.trim()
            }
            return .admitted
        case .refused(let reason):
            let limiter = limiter
            channel.closeFuture.whenComplete { _ in limiter.releaseRefused() }
            return .refused(reason: reason)
        case .dropped: return .dropped
        }
    }

    private func endOldest(from address: String?) -> Bool {
        guard let oldest = members.takeOldest(from: address) else { return false }
        oldest.evict()
        crowded()
        return true
    }
}

/// The place that a connection takes among those that haven't proved who they are. It is confined to the
/// connection's loop.
final class UnauthenticatedConnection: PendingConnection {
    let address: String
    private let channel: any Channel
    private weak var link: AcceptedServiceLink?
    /// Nil once the place is free again.
    private var limiter: ConnectionLimiter?

    init(
        of channel: any Channel, _ link: AcceptedServiceLink, _ address: String, _ limiter: ConnectionLimiter
    ) {
        (self.channel, self.link, self.address, self.limiter) = (channel, link, address, limiter)
    }

    var isUnauthenticated: Bool { limiter != nil }

    /// The caller has proved who it is, or the connection has ended.
    func release() { limiter.take()?.release(address) }

    /// Ends the connection. Its place is free afterwards, and its descriptor a moment later.
    func evict() {
        link?.refuseForOthers()
        release()
        let channel = channel
        // The answer is written at the end of the turn.
        channel.eventLoop.scheduleTask(in: .milliseconds(1)) { channel.closeAtOnce() }
    }
}

extension Channel {
    /// Closes the connection without the farewell of TLS, for which the other side would have to answer. Call
    /// it on the channel's loop.
    package func closeAtOnce() {
        let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        if let tls { tls.close(promise: nil) } else { close(promise: nil) }
    }
}
