import NIOCore
import RTMServiceLink

/// The end of the channel: bytes go to the reader, replies to the connection.
final class RedisChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: RedisConnection
    private let attempt: Int
    private let reader = ReplyReader()

    init(_ connection: RedisConnection, attempt: Int) {
        self.connection = connection
        self.attempt = attempt
    }

    func channelActive(context: ChannelHandlerContext) {
        connection.opened(attempt, context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard unwrapInboundIn(data).withUnsafeReadableBytes({ reader.feed($0) }) else {
            return connection.lost(attempt, "malformed bytes")
        }
        while connection.isCurrent(attempt) {
            switch reader.next() {
            case .reply(let reply): connection.received(attempt, reply)
            case .incomplete: return
            case .malformed: return connection.lost(attempt, "malformed bytes")
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        connection.lost(attempt, "closed by Redis")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.lost(attempt, connectFailure(error))
    }
}
