import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// A connection on which a test writes the bytes of HTTP itself.
struct RawHTTP {
    let channel: any Channel
    private let chunks: AsyncStream<String>

    static func open(_ address: String, tls: NIOSSLContext? = nil) async throws -> RawHTTP {
        let parts = address.split(separator: ":")
        let (chunks, continuation) = AsyncStream.makeStream(of: String.self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
                    }
                    try channel.pipeline.syncOperations.addHandler(TextCollector(continuation))
                }
            }
            .connect(host: String(parts[0]), port: Int(parts[1]) ?? 0).get()
        return RawHTTP(channel: channel, chunks: chunks)
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    /// What arrives until it ends so, or the server closes the connection.
    func text(endingWith end: String) async -> String {
        var text = ""
        for await chunk in chunks {
            text += chunk
            if text.hasSuffix(end) { break }
        }
        return text
    }

    /// Everything that arrives until the server closes the connection.
    func rest() async -> String {
        var text = ""
        for await chunk in chunks { text += chunk }
        return text
    }

    /// What arrives until so many answers are there, or the server closes the connection.
    func answers(_ count: Int) async -> [String] {
        var text = ""
        for await chunk in chunks {
            text += chunk
            // Each answer of the gateway with a body ends with it.
            if text.components(separatedBy: "HTTP/1.1 ").count > count, text.hasSuffix("}") { break }
        }
        return text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0 }
    }

    func close() async throws { try await channel.close() }
}

private final class TextCollector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let chunks: AsyncStream<String>.Continuation

    init(_ chunks: AsyncStream<String>.Continuation) { self.chunks = chunks }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        chunks.yield(String(buffer: unwrapInboundIn(data)))
    }

    func channelInactive(context: ChannelHandlerContext) { chunks.finish() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
