import RTMModel
import RTMWire

/// What a connection may ask, and when: Hello, then Login, then everything else (protocol/core.md,
/// "A connection's life").
///
/// A value without I/O. Each request gets an action; the connection performs it.
struct ConnectionStateMachine {
    static let versions: ClosedRange<UInt32> = 1...1
    /// Limit: bytes of the name that a client gives its software.
    static let clientNameBytesMax = 64

    private enum State {
        /// Nothing has come yet. Followed by `greeted`, or the end.
        case new
        /// Hello was accepted. A login may come, and heartbeats. Followed by `admitting`.
        case greeted
        /// The login is under way: its user's inbox is being attached. Followed by `active`, or the end.
        case admitting
        /// The client is logged in. Followed by the end.
        case active
        /// The last frame was sent. Whatever still arrives is ignored.
        case ended
    }

    enum Action {
        case welcome(version: UInt32, client: WireText)
        case login(ClientRequest.Login)
        case renewToken(ClientRequest.RenewToken)
        case logout
        case answerHeartbeat
        case subscribe(ClientRequest.Subscribe)
        case unsubscribe(ClientRequest.Unsubscribe)
        case publish(ClientRequest.Publish)
        case call(ClientCall)
        case subscribeUserMetadata(ClientRequest.SubscribeUserMetadata)
        case unsubscribeUserMetadata(userID: WireText)
        case refuse(RTMError)
        case disconnect(Disconnect)
        case ignore
    }

    private var state = State.new

    var isNew: Bool { state == .new }
    var isActive: Bool { state == .active }
    var isEnded: Bool { state == .ended }

    mutating func received(_ request: ClientRequest) -> Action {
        switch (state, request.body) {
        case (.ended, _):
            return .ignore
        case (_, _) where request.id == 0:
            return .disconnect(Disconnect(.protocolError, "a request has no request id"))
        case (.new, .hello(let hello)):
            return greet(hello)
        case (.new, _):
            return .disconnect(Disconnect(.protocolError, "the first frame of a connection is Hello"))
        case (_, .hello):
            return .disconnect(Disconnect(.protocolError, "Hello came twice"))
        case (_, .heartbeat):
            return .answerHeartbeat
        case (.greeted, .login(let login)) where login.hasSubscriptionWithoutID:
            return .disconnect(
                Disconnect(.protocolError, "a subscription within the login has no request id"))
        case (.greeted, .login(let login)):
            state = .admitting
            return .login(login)
        case (.greeted, _):
            return .refuse(RTMError(.notLogin, "log in first"))
        case (_, .login):
            return .refuse(RTMError(.duplicateOperation, "this connection has logged in already"))
        case (.admitting, _):
            return .refuse(RTMError(.notLogin, "the login has not been answered yet"))
        case (.active, .renewToken(let token)):
            return .renewToken(token)
        case (.active, .logout):
            return .logout
        case (.active, .subscribe(let subscribe)):
            return .subscribe(subscribe)
        case (.active, .unsubscribe(let unsubscribe)):
            return .unsubscribe(unsubscribe)
        case (.active, .publish(let publish)):
            return .publish(publish)
        case (.active, .call(let call)):
            return .call(call)
        case (.active, .subscribeUserMetadata(let subscribe)):
            return .subscribeUserMetadata(subscribe)
        case (.active, .unsubscribeUserMetadata(let userID)):
            return .unsubscribeUserMetadata(userID: userID)
        case (.active, .unknown):
            return .refuse(RTMError(.serviceNotSupport, "this server doesn't know this kind of request"))
        }
    }

    mutating func loggedIn() { state = .active }

    mutating func ended() { state = .ended }

    private mutating func greet(_ hello: ClientRequest.Hello) -> Action {
        let nameBytes = hello.client.bytes.count
        guard nameBytes <= Self.clientNameBytesMax else {
            return .disconnect(
                Disconnect(
                    .protocolError,
                    "Hello.client has \(nameBytes) bytes, \(Self.clientNameBytesMax) are allowed"
                ))
        }
        let version = min(hello.versionMax, Self.versions.upperBound)
        guard version >= Self.versions.lowerBound, version >= hello.versionMin else {
            let ours = "\(Self.versions.lowerBound) to \(Self.versions.upperBound)"
            let theirs = "\(hello.versionMin) to \(hello.versionMax)"
            return .disconnect(
                Disconnect(.versionUnsupported, "this server speaks versions \(ours), the client \(theirs)"))
        }
        state = .greeted
        return .welcome(version: version, client: hello.client)
    }
}

extension ClientRequest.Login {
    fileprivate var hasSubscriptionWithoutID: Bool {
        subscriptions.contains { $0.requestID == 0 } || followedUsers.contains { $0.requestID == 0 }
    }
}
