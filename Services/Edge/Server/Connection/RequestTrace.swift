import RTMModel
import RTMServiceLink
import RTMWire

extension Tracer {
    /// The work for a client's request, if it is one of those that are traced. A trace names the app, and the
    /// session and request by their numbers: no user, no channel, nothing that a client has sent.
    func begin(
        _ action: ConnectionStateMachine.Action, _ requestID: UInt64, of session: Session?
    ) -> Work? {
        guard action.isTraced, let work = begin(action.name) else { return nil }
        work.add("rtm.request", "\(requestID)")
        if let session {
            work.add("rtm.app", session.appID)
            work.add("rtm.session", "\(session.id.rawValue)")
        }
        return work
    }
}

extension ConnectionStateMachine.Action {
    /// Whether some service may be asked about it.
    fileprivate var isTraced: Bool {
        switch self {
        case .welcome, .logout, .answerHeartbeat, .refuse, .disconnect, .ignore: false
        default: true
        }
    }

    var name: StaticString {
        switch self {
        case .login: "login"
        case .renewToken: "renewToken"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .publish: "publish"
        case .call(let call): call.kind.name
        case .subscribeUserMetadata: "subscribeUserMetadata"
        case .unsubscribeUserMetadata: "unsubscribeUserMetadata"
        case .welcome: "hello"
        case .logout: "logout"
        case .answerHeartbeat: "heartbeat"
        case .refuse: "refused"
        case .disconnect: "disconnected"
        case .ignore: "ignored"
        }
    }
}

extension ClientCall.Kind {
    fileprivate var name: StaticString {
        switch self {
        case .whoNow: "whoNow"
        case .whereNow: "whereNow"
        case .setState: "setState"
        case .getState: "getState"
        case .removeState: "removeState"
        case .writeMetadata: "writeMetadata"
        case .getMetadata: "getMetadata"
        case .setLock: "setLock"
        case .removeLock: "removeLock"
        case .acquireLock: "acquireLock"
        case .releaseLock: "releaseLock"
        case .revokeLock: "revokeLock"
        case .getLocks: "getLocks"
        case .getHistory: "getHistory"
        }
    }
}
