internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Asks a running program's admin port for a page.
enum AdminClient {
    struct Answer {
        let status: Int
        let body: ByteBuffer
    }

    /// Limit: the bytes of a page. `/ready` has less than a kilobyte for each probe.
    private static let bodyBytesMax = 256 * 1024

    /// Asks whether the program is ready.
    ///
    /// - Parameter address: where it listens, as its configuration says. An address for all networks of the
    ///   machine is reached over loopback.
    static func probe(
        _ program: String, at address: HostPort, within timeout: TimeAmount = .seconds(3)
    ) async -> ProbeAnswer {
        do {
            let answer = try await get("/ready", from: address.reachable, within: timeout)
            return ProbeAnswer(
                program, at: address, status: answer.status, body: answer.body.readableBytesView)
        } catch {
            return ProbeAnswer(program, at: address, reason: reason(error))
        }
    }

    private static func get(
        _ path: String, from address: HostPort, within timeout: TimeAmount
    ) async throws -> Answer {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = loop.makePromise(of: Answer.self)
        let timer = loop.scheduleTask(in: timeout) { answer.fail(ChannelError.connectTimeout(timeout)) }
        ClientBootstrap(group: loop)
            .connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandlers([
                        NIOHTTPClientResponseAggregator(maxContentLength: bodyBytesMax),
                        PageRequest(path, of: address, answer),
                    ])
                }
            }
            .connect(host: address.host, port: address.port)
            .whenFailure { answer.fail($0) }
        defer { timer.cancel() }
        return try await answer.futureResult.get()
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as IOError: return String(cString: strerror(error.errnoCode))
        case let error as NIOConnectionError:
            return error.connectionErrors.first.map { reason($0.error) } ?? "the name has no address"
        case ChannelError.connectTimeout(let timeout):
            return "nothing came within \(timeout.nanoseconds / 1_000_000) ms"
        case ChannelError.eof: return "the connection was closed without an answer"
        default: return "\(error)"
        }
    }
}

extension HostPort {
    /// Where a program of this machine reaches what listens here.
    fileprivate var reachable: HostPort {
        switch host {
        case "0.0.0.0": HostPort(host: "127.0.0.1", port: port)
        case "::": HostPort(host: "::1", port: port)
        default: self
        }
    }
}

/// One request, and the end of the connection with its answer.
private final class PageRequest: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull
    typealias OutboundOut = HTTPClientRequestPart

    private let path: String
    private let host: String
    private let answer: EventLoopPromise<AdminClient.Answer>

    init(_ path: String, of address: HostPort, _ answer: EventLoopPromise<AdminClient.Answer>) {
        self.path = path
        host = "\(address)"
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) {
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: path, headers: ["Host": host, "Connection": "close"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let response = unwrapInboundIn(data)
        let body = response.body ?? ByteBuffer()
        answer.succeed(AdminClient.Answer(status: Int(response.head.status.code), body: body))
        context.close(promise: nil)
    }

    /// Whoever has the answer already doesn't notice.
    func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }
}
