import RTMModel
import RTMServiceLink
import RTMWire

extension Tracer {
    /// The work for a client's request, if it is one of those that are traced. A trace names the app, and the
    /// session and request by their numbers: no user, no channel, nothing that a client has sent.
    func begin(
        _ action: ConnectionStateMachine.Action, _ requestID: UInt64, of session: Session?
    ) -> Work? {
        guard let name = action.traced, let work = begin(name) else { return nil }
        work.add("rtm.request", "\(requestID)")
        if let session {
            work.add("rtm.app", session.appID)
            work.add("rtm.session", "\(session.id.rawValue)")
        }
        return work
    }
}

extension ConnectionStateMachine.Action {
    /// The name of what some service may be asked for; nil for everything else.
    fileprivate var traced: StaticString? {
        switch self {
        case .login: "login"
        case .renewToken: "renewToken"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .publish: "publish"
        case .call(let call): call.kind.traced
        case .subscribeUserMetadata: "subscribeUserMetadata"
        case .unsubscribeUserMetadata: "unsubscribeUserMetadata"
        case .welcome, .logout, .answerHeartbeat, .refuse, .disconnect, .ignore: nil
        }
    }
}

extension ClientCall.Kind {
    fileprivate var traced: StaticString {
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
