import NIOCore
import RTMServiceLink
import RTMWire

/// What an admitted connection takes of the limits of connections, until it ends or makes room for another
/// one. It is confined to the connection's event loop.
final class ConnectionSlot: PendingConnection {
    let address: String
    private let channel: any Channel
    private let connection: ConnectionHandler
    /// Nil once the place is free again.
    private var limiter: ConnectionLimiter?

    init(
        of channel: any Channel, _ connection: ConnectionHandler, _ address: String,
        _ limiter: ConnectionLimiter
    ) {
        (self.channel, self.connection) = (channel, connection)
        (self.address, self.limiter) = (address, limiter)
    }

    var isUnauthenticated: Bool { limiter != nil && !connection.machine.isActive }

    func release() { limiter.take()?.release(address) }

    /// Ends the connection. Its place and its descriptor are free afterwards.
    func makeRoom(_ reason: Disconnect) {
        connection.disconnect(reason)
        release()
        channel.closeAtOnce()
    }

    /// Ends the connection when its client has read why.
    func sendAway(_ reason: Disconnect) {
        guard connection.isReachable else { return channel.closeAtOnce() }
        connection.disconnect(reason)
    }
}
