import NIOCore
import NIOSSL
import RTMWire

/// What an admitted connection takes of the limits of connections, until it ends or makes room for another
/// one. It is confined to the connection's event loop.
final class ConnectionSlot: Stranger {
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

    var isStranger: Bool { limiter != nil && !connection.machine.isActive }

    func release() { limiter.take()?.release(address) }

    /// Ends the connection. Its place and its descriptor are free afterwards.
    func makeRoom() {
        connection.disconnect(
            Disconnect(
                .tooManyConnections, "this server is full, and you haven't logged in", retryAfter: .seconds(5)
            ))
        release()
        // TLS would wait for the client's farewell.
        let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self)
        if let tls { tls.close(promise: nil) } else { channel.close(promise: nil) }
    }
}
