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

    /// Limit: refusals that are remembered; one more replaces the oldest.
    private static let countMax = 512

    /// A refusal, and those like it that came next.
    struct Refusal: DatedFact {
        let request: Request
        let appID: String
        let userID: String
        let session: UInt64
        /// The channel of the first of them; nil where it isn't known any more.
        let channel: ChannelKey?
        let code: ErrorCode
        let reason: String
        /// When the last of them came.
        var at: UInt64
        var count = 1
    }

    private let logger: Logger
    private let userLog: UserLog
    private let wallClock: () -> UInt64
    private var budgets = LineBudgets<Cause>()
    /// The latest ones, for those who ask why something was not published or subscribed.
    private(set) var latest: FactRing<Refusal>

    init(_ logger: Logger, _ userLog: UserLog, wallClock: @escaping () -> UInt64) {
        self.logger = logger
        self.userLog = userLog
        self.wallClock = wallClock
        latest = FactRing(Self.countMax, now: wallClock())
    }

    /// - Parameter channel: nil where it isn't known any more.
    func refused(
        _ request: Request, of session: Session, _ type: ChannelType?, _ channel: @autoclosure () -> String?,
        _ error: RTMError, now: NIODeadline
    ) {
        remember(request, of: session, type, channel, error)
        let omitted = budgets.take(Cause(request: request, code: error.code), now: now)
        guard omitted != nil || userLog.hasRaised(session) else { return }
        var facts: Logger.Metadata = [
            "app": "\(session.appID)", "user": "\(session.userID)",
            "code": .stringConvertible(error.code.rawValue), "cause": "\(error.reason.cut(200))",
        ]
        if let type { facts["type"] = "\(type)" }
        if let channel = channel() { facts["channel"] = "\(channel.cut())" }
        if let omitted, omitted > 0 { facts["omitted"] = .stringConvertible(omitted) }
        logger.info(request == .publish ? "publish refused" : "subscribe refused", metadata: facts)
    }

    /// A client may have requests refused as fast as it sends them. So those that are alike are one.
    private func remember(
        _ request: Request, of session: Session, _ type: ChannelType?, _ channel: () -> String?,
        _ error: RTMError
    ) {
        let now = wallClock()
        let isLikeLast = latest.changeNewest { last in
            guard last.session == session.id.rawValue, last.request == request, last.code == error.code else {
                return false
            }
            last.at = now
            last.count += 1
            return true
        }
        guard !isLikeLast else { return }
        let key = type.flatMap { type in
            channel().map { ChannelKey(appID: session.appID, type: type, name: $0.cut()) }
        }
        latest.append(
            Refusal(
                request: request, appID: session.appID, userID: session.userID, session: session.id.rawValue,
                channel: key, code: error.code, reason: error.reason.cut(200), at: now))
    }
}
