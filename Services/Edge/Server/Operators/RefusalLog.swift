import Logging
import NIOCore
import RTMModel

/// A line for a refused publish or subscribe. A client may have requests refused as fast as it sends them, so
/// each cause has a budget of lines, and the next line says how many were left out.
final class RefusalLog {
    enum Request: String {
        case publish, subscribe
    }

    private struct Cause: Hashable {
        let request: Request
        let code: ErrorCode
    }

    private let logger: Logger
    private let userLog: UserLog
    private var budgets = LineBudgets<Cause>()

    init(_ logger: Logger, _ userLog: UserLog) {
        self.logger = logger
        self.userLog = userLog
    }

    /// - Parameter channel: nil where it isn't known any more.
    func refused(
        _ request: Request, of session: Session, _ type: ChannelType?, _ channel: @autoclosure () -> String?,
        _ error: RTMError, now: NIODeadline
    ) {
        let omitted = budgets.take(Cause(request: request, code: error.code), now: now)
        guard omitted != nil || userLog.hasRaised(session) else { return }
        var facts: Logger.Metadata = [
            "app": "\(session.appID)", "user": "\(session.userID)",
            "code": .stringConvertible(error.code.rawValue), "cause": "\(error.reason.prefix(200))",
        ]
        if let type { facts["type"] = "\(type)" }
        if let channel = channel() { facts["channel"] = "\(channel.prefix(64))" }
        if let omitted, omitted > 0 { facts["omitted"] = .stringConvertible(omitted) }
        logger.info(request == .publish ? "publish refused" : "subscribe refused", metadata: facts)
    }
}
