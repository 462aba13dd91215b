import Logging
import NIOCore
import RTMServiceLink

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Stops accepting for a moment when the process has no descriptor left. The kernel keeps reporting the
/// connection that can't be accepted, so a loop that went on would do nothing else.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(500)

    private let metrics: EdgeMetrics
    private let logger: Logger
    private var isPaused = false
    private var isReported = false

    init(metrics: EdgeMetrics, logger: Logger) {
        self.metrics = metrics
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, error.errnoCode == EMFILE || error.errnoCode == ENFILE else {
            return context.fireErrorCaught(error)
        }
        guard !isPaused else { return }
        isPaused = true
        metrics.acceptPaused()
        if !isReported {
            isReported = true
            logger.error(
                "no descriptors are left, so no connections are accepted for the moment",
                metadata: ["cause": "\(connectFailure(error))"])
        }
        setAutoRead(false, context)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isPaused = false
            self.setAutoRead(true, context)
        }
    }

    private func setAutoRead(_ isOn: Bool, _ context: ChannelHandlerContext) {
        // A listener that has been closed meanwhile has no options any more.
        try? context.channel.syncOptions?.setOption(.autoRead, value: isOn)
    }
}
