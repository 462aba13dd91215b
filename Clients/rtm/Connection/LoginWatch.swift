import RTMClient

/// Decides what a person learns while a command tries to log in, and when further attempts make no sense.
///
/// `login` itself keeps trying for minutes, but at a shell a person waits. Pure.
struct LoginWatch: Sendable {
    /// How long a person waits without asking what is happening.
    static let silence: Duration = .seconds(1)

    /// The servers as a person knows them.
    let servers: String
    let timeout: Duration
    /// Whether the user has chosen the timeout. Then the server may still be starting, so what its start
    /// mends is no reason to give up.
    let isPatient: Bool
    /// The context that names the servers, if one does.
    let context: String?
    /// Why the latest attempt failed.
    private(set) var cause: String?

    init(servers: [ServerAddress], timeout: Duration, isPatient: Bool, context: String? = nil) {
        self.context = context
        self.servers = servers.map(\.description).joined(separator: ", ")
        self.timeout = timeout
        self.isPatient = isPatient
    }

    /// All servers were tried once, and none let the user in.
    ///
    /// - Throws: `.notConnected` (-10025) when another attempt would end the same way.
    mutating func attemptFailed(
        _ reason: String, _ failure: ConnectionFailure?
    ) throws(RTMError) {
        cause = reason
        guard let failure, let hint = failure.hint, !(isPatient && failure.endsWithStart) else { return }
        let origin = context.map { "; the context '\($0)' names it" } ?? ""
        throw RTMError(.notConnected, reason + origin + hint, operation: "login")
    }

    /// A server has refused the login for now, and said when to come back.
    mutating func heldBack(_ reason: String) { cause = reason }

    /// What is shown after a second of silence.
    var notice: String {
        let state = cause.map { "\($0); trying again" } ?? "waiting for \(servers)"
        return "\(state), for up to \(timeout.text) (--connect-timeout); Ctrl-C ends it"
    }

    var timedOut: RTMError {
        let reason = cause.map { ": \($0)" } ?? ""
        return RTMError(
            .loginTimeout, "no login at \(servers) within \(timeout.text)\(reason)", operation: "login")
    }
}

extension ConnectionFailure {
    /// Whether the start of the server mends it.
    fileprivate var endsWithStart: Bool { self == .refused || self == .unknownHost }

    /// What to do about a failure that waiting doesn't mend; nil if it may pass.
    var hint: String? {
        switch self {
        case .refused: "; is a server running there? --server names another one"
        case .unknownHost: "; is the name right?"
        case .serverWithoutTLS: "; --no-tls, or ws:// instead of wss://, to talk to it in the clear"
        case .serverWithTLS: "; --tls to talk to it with TLS"
        case .serverWithHTTP: "; --server names another one"
        case .serverWithoutHTTP: "; write wss:// if it speaks TLS there, or the address without ws://"
        case .webSocketRefused:
            "; are the port and the path those of the WebSocket, and not of an admin port?"
        case .tls: "; --no-tls, or ws:// instead of wss://, if the server has no encryption there"
        case .certificateUntrusted:
            "; --ca names a file with the authority that signed it, and `openssl x509 -dates` shows its time"
        case .certificateOfOtherHost:
            "; --server takes one of the names or addresses that stand in the certificate"
        case .unreachable, .timedOut, .proxyAuthentication, .proxyRefused: nil
        }
    }
}
