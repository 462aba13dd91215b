import RTMModel
import RTMProtocol

/// Why an attempt failed or a connection ended, and whether the client tries again or gives up
/// (behaviour.md 2.3).
enum LinkLoss: Sendable, Hashable {
    /// The socket could not be opened, was closed, or carried something that is no frame.
    case connectionError(String, ConnectionFailure? = nil)
    /// The server did not answer a heartbeat in time, although the socket may still look alive (S-40).
    case heartbeatTimeout
    /// The server answered the login with an error.
    case loginRefused(RTMError)
    /// The server ended the connection with a code and a reason.
    case disconnected(code: Int, reason: String, retryAfter: Duration?)

    /// Disconnect codes that advise not to connect again, because that would end the same way.
    private static let terminalDisconnectCodes = 3500..<4000

    /// The server shuts down in good order.
    private static let drainingCode = 3000

    /// Whether another attempt would end the same way.
    var isFatal: Bool {
        switch self {
        case .connectionError(_, let failure): failure?.isRefusalOfProxy ?? false
        case .heartbeatTimeout: false
        case .loginRefused(let error): Self.fatalReason(of: error) != nil
        case .disconnected(let code, _, _): Self.terminalDisconnectCodes.contains(code)
        }
    }

    var reasonCode: LinkStateReason {
        switch self {
        case .connectionError: .connectionError
        case .heartbeatTimeout: .keepAliveTimeout
        case .loginRefused(let error): Self.fatalReason(of: error) ?? .connectionError
        case .disconnected(let code, _, _): isFatal ? Self.reason(ofTerminalCode: code) : .connectionError
        }
    }

    var text: String {
        switch self {
        case .connectionError(let text, _): text
        case .heartbeatTimeout: "the server did not answer a heartbeat in time"
        case .loginRefused(let error): error.reason
        case .disconnected(let code, let reason, _): "the server closed the connection: \(reason) (\(code))"
        }
    }

    /// Why no connection could be opened, if that was it.
    var connectionFailure: ConnectionFailure? {
        if case .connectionError(_, let failure) = self { failure } else { nil }
    }

    /// The attempt failed at once, and another one costs nobody anything: nothing listens at the address, or
    /// no network leads there.
    var isRefusalOfAddress: Bool { connectionFailure == .refused || connectionFailure == .unreachable }

    /// What the server asked to wait before the next attempt.
    var retryAfter: Duration? {
        switch self {
        case .connectionError, .heartbeatTimeout: nil
        case .loginRefused(let error): error.retryAfter
        case .disconnected(_, _, let retryAfter): retryAfter
        }
    }

    /// The server shuts down and has asked the client to go elsewhere, or to its successor.
    var isDrain: Bool { if case .disconnected(Self.drainingCode, _, _) = self { true } else { false } }

    /// When the server that ended the connection wants the client back. `nil` leaves it to the client.
    var advice: Duration? {
        guard case .disconnected(_, _, let retryAfter) = self else { return nil }
        return retryAfter ?? (isDrain ? .zero : nil)
    }

    /// Nothing is wrong with the login but that it came too early, or that a proxy of this network refuses. A
    /// login that an app waits for fails with this. A session that comes back by itself waits (R-9, N-1).
    var mayPassLater: Bool {
        if case .loginRefused(let error) = self { error.retryAfter != nil } else { isRefusalOfProxy }
    }

    /// A proxy may let the client through to another server.
    var isRefusalOfProxy: Bool { connectionFailure?.isRefusalOfProxy ?? false }

    /// What a pending login throws if this loss is fatal.
    var loginError: RTMError {
        if case .loginRefused(let error) = self { return error }
        let code: ErrorCode =
            switch reasonCode {
            case .tokenExpired: .tokenExpired
            case .sameUidLogin: .loginAborted
            case .serviceNotSupported: .serviceNotSupport
            default: .loginRejected
            }
        return RTMError(code, text)
    }

    /// The reason for failing that belongs to the code of a refusal (T3), or `nil` if another attempt may
    /// succeed.
    private static func fatalReason(of error: RTMError) -> LinkStateReason? {
        switch error.code {
        case .invalidToken: .invalidToken
        case .tokenExpired: .tokenExpired
        case .loginInconsistentAppId: .inconsistentAppId
        case .invalidUserId: .invalidUserId
        case .invalidAppId, .loginNotAuthorized: .loginNotAuthorized
        // A rejected login with a time to wait came too often. Without one, the user isn't let in.
        case .loginRejected: error.retryAfter == nil ? .loginRejected : .loginTooFrequent
        case .loginAborted: .sameUidLogin
        case .operationRateExceedLimitation: .operationRateExceedLimitation
        case .serviceNotSupport: .serviceNotSupported
        case .invalidParameter, .notInitialized: .loginRejected
        default: nil
        }
    }

    /// The codes are those of `DisconnectCode` in `session.proto`. An unknown code counts by its band.
    private static func reason(ofTerminalCode code: Int) -> LinkStateReason {
        switch code {
        case 3504: .serviceNotSupported
        case 3505: .loginRejected
        case 3506: .tokenExpired
        case 3507: .sameUidLogin
        default: .kickedOutByServer
        }
    }
}

extension LinkLoss {
    init(_ disconnect: Rtm_Client_Disconnect) {
        self = .disconnected(
            code: disconnect.code.rawValue, reason: disconnect.reason,
            retryAfter: disconnect.retryAfterMs > 0 ? .milliseconds(disconnect.retryAfterMs) : nil)
    }
}
