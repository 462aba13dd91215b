import RTMModel

/// Why an attempt failed or a connection ended, and what follows from it: try again, or give up
/// (behaviour.md 2.3).
enum LinkLoss: Sendable, Hashable {
    /// The socket could not be opened, was closed, or carried what isn't a frame.
    case connectionError(String)
    /// No answer to a heartbeat in time (S-40): the socket may still look alive.
    case heartbeatTimeout
    /// The server answered the login with an error.
    case loginRefused(RTMError)
    /// The server said goodbye with a code and advice.
    case disconnected(code: Int, reason: String, retryAfter: Duration?)

    /// Disconnect codes from here up to 3999 say: don't connect again, it would end the same way.
    private static let terminalDisconnectCodes = 3500..<4000

    /// Repeating doesn't mend it.
    var isFatal: Bool {
        switch self {
        case .connectionError, .heartbeatTimeout: false
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
        case .connectionError(let text): text
        case .heartbeatTimeout: "the server did not answer a heartbeat in time"
        case .loginRefused(let error): error.reason
        case .disconnected(let code, let reason, _): "the server closed the connection: \(reason) (\(code))"
        }
    }

    /// What the server asked to wait before the next attempt.
    var retryAfter: Duration? {
        switch self {
        case .connectionError, .heartbeatTimeout: nil
        case .loginRefused(let error): error.retryAfter
        case .disconnected(_, _, let retryAfter): retryAfter
        }
    }

    /// nothing is wrong with the login but that it came too early. A login that an app waits for ends
    /// with it; a session that comes back by itself waits.
    var mayPassLater: Bool {
        if case .loginRefused(let error) = self { error.retryAfter != nil } else { false }
    }

    /// What a pending login throws when this is fatal.
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

    /// The reason of T3 by the code of the refusal; nil for what an automatic retry may mend.
    private static func fatalReason(of error: RTMError) -> LinkStateReason? {
        switch error.code {
        case .invalidToken: .invalidToken
        case .tokenExpired: .tokenExpired
        case .loginInconsistentAppId: .inconsistentAppId
        case .invalidUserId: .invalidUserId
        case .invalidAppId, .loginNotAuthorized: .loginNotAuthorized
        // of two logins that the server refuses, the one that waiting mends came too often.
        case .loginRejected: error.retryAfter == nil ? .loginRejected : .loginTooFrequent
        case .loginAborted: .sameUidLogin
        case .operationRateExceedLimitation: .operationRateExceedLimitation
        case .serviceNotSupport: .serviceNotSupported
        case .invalidParameter, .notInitialized: .loginRejected
        default: nil
        }
    }

    /// The codes are those of `DisconnectCode` in `session.proto`; an unknown one acts by its band.
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

/// A transition of the link state, as the machine announces it. The link adds channels and time.
struct LinkChange: Sendable, Hashable {
    var current: LinkState
    var previous: LinkState
    var operation: LinkOperation
    var reasonCode: LinkStateReason
    var reason: String
    var isResumed = false
    /// S-18: whether the event names the subscribed channels.
    var listsChannels = false
    var unrestoredChannels: [String] = []
}
