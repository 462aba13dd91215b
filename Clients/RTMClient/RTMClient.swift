// The client as an app sees it.
//
// This class decides nothing: it moves each call onto the client's event loop, where `Link` owns all state,
// and waits for the one completion that every call has (S-0a). It may be used from any task or thread.

import NIOCore
@_exported public import RTMModel
import Synchronization

/// One user of one app: logs in, subscribes, publishes, and receives events.
///
/// ```swift
/// let client = try RTMClient(.init(appID: "demo", userID: "alice"))
/// let events = client.events()
/// try await client.login()
/// try await client.subscribe(to: "lobby")
/// for await case .message(let message) in events { … }
/// ```
///
/// Every call completes exactly once. When the task that waits for a call is cancelled the call completes at
/// once with the error code that its failure has (-10023 for `login`, -11024 for `publish`, -11021 for
/// `subscribe` …) and a reason that says so; what was already sent may still take effect.
///
/// A client that is released without `close()` closes its connection by itself.
public final class RTMClient: Sendable {
    public let configuration: Configuration

    let eventLoop: any EventLoop
    let link: NIOLoopBoundBox<Link>
    let hub: EventHub
    let requestIDs: RequestIDs
    #if canImport(Network)
        private let networkPath: NetworkPath
    #endif

    /// Checks the configuration; sends nothing (S-0c).
    ///
    /// - Throws: -10003 empty app id, -10006 bad user id, -10024 no server, or one in the clear where TLS is
    ///   asked for, -10007 certificate authorities unreadable.
    public init(_ configuration: Configuration) throws(RTMError) {
        try configuration.check()
        self.configuration = configuration
        let eventLoop = configuration.eventLoopGroup.next()
        let hub = EventHub()
        let requestIDs = RequestIDs()
        let dialer = try Dialer(
            to: configuration.servers, tls: configuration.tls, timeout: configuration.requestTimeout,
            eventLoop: eventLoop)
        let link = Link(configuration, dialer: dialer, hub: hub, requestIDs: requestIDs, eventLoop: eventLoop)
        self.eventLoop = eventLoop
        self.hub = hub
        self.requestIDs = requestIDs
        let box = NIOLoopBoundBox<Link>.makeBoxSendingValue(link, eventLoop: eventLoop)
        self.link = box
        #if canImport(Network)
            networkPath = NetworkPath { eventLoop.execute { box.value.session.networkChanged() } }
        #endif
    }

    deinit {
        eventLoop.execute { [link] in link.value.session.close(nil) }
    }

    /// The state of the link at this moment.
    public var linkState: LinkState { hub.linkState }

    /// A new consumer of all events from now on. Each call makes an independent one.
    ///
    /// A consumer that falls behind by more than its buffer loses the oldest events and finds
    /// ``RTMEvent/overflow(dropped:)`` in their place; nobody else notices. The sequence ends after
    /// `close()`, once what was buffered has been read, and when the client is released. One task should
    /// iterate one sequence: two tasks that iterate the same sequence share its events between them.
    public func events(buffering: EventBuffering? = nil) -> RTMEvents {
        hub.makeConsumer(buffering ?? .dropOldest(capacity: configuration.eventBufferCapacity))
    }

    /// Connects and logs in; afterwards the client stays logged in by itself until `logout`, `close` or a
    /// fatal cause.
    ///
    /// While logged in it may be called again: with a new token it renews that of the session (S-7).
    ///
    /// - Parameter token: a token for this app and user. Nil presents the configuration's or, while a session
    ///   is being taken up again, that session's newest; without any the app id is sent, which serves apps
    ///   without certificate (S-1).
    /// - Throws: -10023 when a newer `login`, `logout` or cancellation replaced it (S-6); -10011 when no
    ///   server was reached within two minutes, or within the configured `reconnectTimeout` (S-13): without
    ///   a `reconnectTimeout` attempts go on nevertheless; and the server's refusals: -10003, -10005,
    ///   -10006, -10009, -10012, -10015, -10016.
    public func login(token: String? = nil) async throws(RTMError) {
        if let token { try check(.login) { () throws(RTMError) in try Credential.check(token) } }
        try await perform(.login) { link, completion in link.session.login(token: token, completion) }
    }

    /// Says that the device's network changed, or that waiting any longer makes no sense: a client that is
    /// logged in connects anew at once, and what is under way is resumed (T7); one that waits for its next
    /// attempt makes it now. In `idle` and `failed` nothing happens.
    ///
    /// On Apple platforms the client notices changes of the network by itself.
    public func networkChanged() {
        eventLoop.execute { [link] in link.value.session.networkChanged() }
    }

    /// Replaces the token of the session, before it expires; the link doesn't change. The client comes back
    /// with the newest token after a loss (S-52).
    ///
    /// A token that is refused changes nothing: the session lives on until the end of the old one.
    ///
    /// - Throws: -10005 no valid token for this app and user, -10009 expired, -10015 not for this service,
    ///   -10016 of another app, -11038 it takes away what is subscribed, -10021 more than twice a second,
    ///   -10002 not logged in, -10025 not connected (`login` with the new token takes the session up at
    ///   once), -10026 no answer in time: then the token may have been renewed.
    public func renewToken(_ token: String) async throws(RTMError) {
        try check(.renewToken) { () throws(RTMError) in try Credential.check(token) }
        try await perform(.renewToken) { link, completion in link.session.renewToken(token, completion) }
    }

    /// Ends the session: others see the user leave at once; subscriptions end (S-22).
    ///
    /// - Throws: -10002 when not logged in.
    public func logout() async throws(RTMError) {
        try await perform(.logout) { link, completion in link.session.logout(completion) }
    }

    /// Logs out and releases everything; ends all event sequences. May be called again, which does nothing.
    ///
    /// Calls that are under way, and every later call, throw -10018.
    public func close() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [link] in link.value.session.close(continuation) }
        }
    }
}
