import NIOCore
import RTMServiceLink
import RTMWire

/// What an admitted connection takes of the limits of connections.
struct ConnectionSlot {
    let channel: any Channel
    /// Where the client is: at the other end of the socket, or where the load balancer says.
    let address: String
    let limiter: ConnectionLimiter
}

/// A connection has its slot until it ends, or is evicted for another one.
extension ConnectionHandler: PendingConnection {
    var isUnauthenticated: Bool { slot != nil && !machine.isActive }

    var address: String { slot?.address ?? context?.remoteAddress?.ipAddress ?? "" }

    func admitted(_ slot: ConnectionSlot) {
        self.slot = slot
        loop.unauthenticated.add(self)
    }

    func release() {
        guard let slot = slot.take() else { return }
        slot.limiter.release(slot.address)
        loop.unauthenticated.trim()
    }

    /// Ends the connection at once. Its descriptor is free afterwards.
    func evict(_ reason: Disconnect) {
        disconnect(reason)
        let channel = slot?.channel
        release()
        channel?.closeAtOnce()
    }

    /// Ends the connection when its client has read why. To a client that can't read yet nothing is said.
    func sendAway(_ reason: Disconnect) {
        guard isReachable else {
            slot?.channel.closeAtOnce()
            return
        }
        disconnect(reason)
    }
}
