import RTMClient
import RTMModel
import RTMTestSupport
import Synchronization
import Testing

@testable import AgoraRtmKit

@Suite("Delegates")
struct DelegateTests {
    private let kit: AgoraRtmClientKit

    init() throws {
        kit = try AgoraRtmClientKit(.local(), delegate: nil)
    }

    private func deliver(_ text: String) {
        kit.deliver(
            .message(
                MessageEvent(
                    channelType: .message, channelName: "lobby", payload: .text(text), publisher: "bob",
                    timestampMilliseconds: 1, offset: 1)))
    }

    @Test("every delegate gets every event, in order (N-8)")
    func everybody() {
        let first = Recorder()
        let second = Recorder()
        kit.addDelegate(first)
        kit.addDelegate(second)
        deliver("1")
        deliver("2")
        #expect(first.received == ["1", "2"])
        #expect(second.received == ["1", "2"])
    }

    @Test("a delegate that is added twice gets each event once")
    func twice() {
        let delegate = Recorder()
        kit.addDelegate(delegate)
        kit.addDelegate(delegate)
        deliver("1")
        #expect(delegate.received == ["1"])
    }

    @Test("removal stops at once, even within the delivery of one event (N-8)")
    func removal() {
        let second = Recorder()
        let first = Recorder { [kit] in kit.removeDelegate(second) }
        kit.addDelegate(first)
        kit.addDelegate(second)
        deliver("1")
        #expect(first.received == ["1"])
        #expect(second.received.isEmpty)
    }

    @Test("delegates are held weakly, and one may remove itself while it goes away")
    func weakness() {
        var delegate: Recorder? = Recorder()
        weak let observed = delegate
        kit.addDelegate(delegate!)
        delegate?.atEnd = { [kit] delegate in kit.removeDelegate(delegate) }
        delegate = nil
        #expect(observed == nil)
        let another = Recorder()
        kit.addDelegate(another)
        deliver("1")
        #expect(another.received == ["1"])
    }

    @Test("the delegate of the initializer gets events too; one that implements nothing is no trouble")
    func initializer() throws {
        final class Silent: NSObject, AgoraRtmClientDelegate {}
        let delegate = Recorder()
        let silent = Silent()
        let kit = try AgoraRtmClientKit(
            .local(), delegate: delegate)
        kit.addDelegate(silent)
        let change = LinkStateEvent(
            currentState: .connecting, previousState: .idle, operation: .login, reasonCode: .login,
            reason: "login", timestampMilliseconds: 1)
        kit.deliver(.linkState(change))
        kit.deliver(
            .presence(
                PresenceEvent(
                    channelType: .message, channelName: "lobby", change: .outage(.unavailable),
                    timestampMilliseconds: 1)))
        #expect(delegate.received == ["connecting", "errorOutOfService"])
    }

    @Test("a login's token that will expire is reported without a channel, and as an event (S-50)")
    func tokenWillExpire() {
        let delegate = Recorder()
        kit.addDelegate(delegate)
        kit.deliver(.tokenWillExpire(TokenWillExpireEvent(remaining: .seconds(30))))
        #expect(delegate.received == ["token of nil", "willExpire []"])
        kit.deliver(.tokenWillExpire(TokenWillExpireEvent(remaining: .seconds(30), channelName: "room")))
        #expect(delegate.received.suffix(2) == ["token of room", "willExpire []"])
    }

    @Test("a return with a token that allows less says which channels are over (A-16)")
    func readPermissionRevoked() {
        let delegate = Recorder()
        kit.addDelegate(delegate)
        var change = LinkStateEvent(
            currentState: .connected, previousState: .connecting, operation: .reconnected,
            reasonCode: .reconnectSuccess, reason: "back", unrestoredChannels: ["hall", "vault"],
            timestampMilliseconds: 1)
        kit.deliver(.linkState(change))
        change.forbiddenChannels = ["vault"]
        kit.deliver(.linkState(change))
        #expect(delegate.received == ["connected", "connected", "readPermissionRevoked [vault]"])
    }

    @Test("each link event follows in the words of earlier versions (S-24)")
    func earlierWords() {
        let delegate = EarlierRecorder()
        kit.addDelegate(delegate)
        func change(
            _ state: LinkState, _ operation: LinkOperation, _ reason: LinkStateReason,
            of channel: String? = nil
        ) {
            var event = LinkStateEvent(
                currentState: state, previousState: .idle, operation: operation, reasonCode: reason,
                reason: "", affectedChannels: channel.map { [$0] } ?? ["lobby"], timestampMilliseconds: 1)
            event.serviceType = channel == nil ? .message : .stream
            kit.deliver(.linkState(event))
        }
        change(.connecting, .login, .login)
        change(.connected, .login, .loginSuccess)
        change(.disconnected, .serverTimeout, .connectionError)
        change(.connecting, .autoReconnect, .autoReconnect)
        change(.connected, .reconnected, .reconnectSuccess)
        change(.failed, .serverReject, .kickedOutByServer)
        change(.connected, .join, .joinSuccess, of: "room")
        change(.idle, .logout, .logout)
        #expect(
            delegate.received == [
                " connecting changedConnecting", " connected changedLoginSuccess",
                " reconnecting changedInterrupted", " reconnecting changedConnecting",
                " connected changedRejoinSuccess", " failed changedBannedByServer",
                "room connected changedJoinSuccess", " disconnected changedLogout",
            ])
    }

    @Test("after destroy no delegate is called (S-9)")
    func destroyed() {
        let delegate = Recorder()
        kit.addDelegate(delegate)
        kit.destroy()
        deliver("1")
        kit.addDelegate(delegate)
        deliver("2")
        #expect(delegate.received.isEmpty)
    }

    @Test("events of the client below come on the queue of the configuration", .ends(withinMinutes: 1))
    func queue() async throws {
        let queue = DispatchQueue(label: "app")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: "app")
        let config = AgoraRtmClientConfig.local()
        config.callbackQueue = queue
        let kit = try AgoraRtmClientKit(config, delegate: nil)
        let places = Mutex<[String?]>([])
        let delegate = Recorder { places.withLock { $0.append(DispatchQueue.getSpecific(key: key)) } }
        kit.addDelegate(delegate)
        // Nothing needs to listen there, because the attempt alone changes the link.
        kit.login(nil) { _, _ in places.withLock { $0.append(DispatchQueue.getSpecific(key: key)) } }
        try await eventually("the link begins to connect") { delegate.received.first == "connecting" }
        await kit.logout()
        try await eventually("the login ends") { places.withLock { $0.count > 1 } }
        #expect(places.withLock { $0.allSatisfy { $0 == "app" } })
    }
}

/// Records the events that it gets: the text of messages, the names of states and types.
private final class Recorder: NSObject, AgoraRtmClientDelegate, Sendable {
    private let contents = Mutex<[String]>([])
    private let onEvent: @Sendable () -> Void
    private let end = Mutex<(@Sendable (Recorder) -> Void)?>(nil)

    init(_ onEvent: @escaping @Sendable () -> Void = {}) { self.onEvent = onEvent }

    deinit {
        let atEnd = end.withLock { $0 }
        atEnd?(self)
    }

    var received: [String] { contents.withLock { $0 } }

    var atEnd: (@Sendable (Recorder) -> Void)? {
        get { end.withLock { $0 } }
        set { end.withLock { $0 = newValue } }
    }

    private func note(_ word: String) {
        contents.withLock { $0.append(word) }
        onEvent()
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
        note(event.message.stringData ?? "bytes")
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
        note("\(event.currentState)")
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
        note("\(event.type)")
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, tokenPrivilegeWillExpire channel: String?) {
        note("token of \(channel ?? "nil")")
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveTokenEvent event: AgoraRtmTokenEvent) {
        let channels = event.affectedResources.messageChannels.joined(separator: " ")
        note("\(event.eventType) [\(channels)]")
    }
}

/// Records what it receives in the words of earlier versions.
private final class EarlierRecorder: NSObject, AgoraRtmClientDelegate, Sendable {
    private let contents = Mutex<[String]>([])

    var received: [String] { contents.withLock { $0 } }

    func rtmKit(
        _ kit: AgoraRtmClientKit, channel channelName: String,
        connectionChangedToState state: AgoraRtmClientConnectionState,
        reason: AgoraRtmClientConnectionChangeReason
    ) {
        contents.withLock { $0.append("\(channelName) \(state) \(reason)") }
    }
}
