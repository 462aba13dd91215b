// The client as an app sees it.
//
// This class decides nothing. It moves each call onto the client's event loop, where `Link` owns all state,
// and waits for the one completion that every call has (S-0a). It may be used from any task or thread.

import NIOCore
@_exported public import RTMModel

/// One user of one app: logs in, subscribes, publishes, and receives events.
///
/// ```swift
/// let client = try RTMClient(.init(appID: "demo", userID: "alice"))
/// try await client.login()
/// for await case .message(let message) in try await client.subscribe(to: "lobby") { … }
/// ```
///
/// Every call completes exactly once. When the task that waits for a call is cancelled, the call completes at
/// once with the code of a failure of that call (-10023 for `login`, `.channelPublishMessageFailed` (-11024)
/// for `publish`, `.channelSubscribeFailed` (-11021) for `subscribe` …) and a reason that says so. What was
/// already sent may still take effect.
///
/// A client that is released without `close()` closes its connection by itself.
public final class RTMClient: Sendable {
    /// What the client was made with.
    public let configuration: Configuration

    let eventLoop: any EventLoop
    let link: NIOLoopBoundBox<Link>
    let hub: EventHub
    let requestIDs: RequestIDs
    /// `nil` outside of a test environment.
    let watch: (any ClientWatch)?
    /// `nil` where there is no real network.
    private let networkPath: NetworkPath?

    /// Checks the configuration and sends nothing (S-0c).
    ///
    /// - Throws: `.invalidAppId` (-10003) if the app id is empty, `.invalidUserId` (-10006) if the user id is
    ///   bad, `.invalidPrivateConfig` (-10024) if there is no server or one in the clear where TLS is asked
    ///   for, `.initServiceFailed` (-10007) if the certificate authorities can't be read, `.invalidToken`
    ///   (-10005) if the token is longer than 24 KiB or has a NUL, `.invalidParameter` (-10014) for a token
    ///   beside a token provider and for a proxy without server or port, `.invalidEncryptionParameter`
    ///   (-10020) for encryption keys that don't fit together.
    public init(_ configuration: Configuration) throws(RTMError) {
        try configuration.check()
        self.configuration = configuration
        let environment = try ClientEnvironment.of(configuration)
        let eventLoop = environment?.eventLoop ?? configuration.eventLoopGroup.next()
        let hub = EventHub()
        let requestIDs = RequestIDs()
        let link: Link
        if let environment {
            link = Link(
                configuration, dialer: EnvironmentDialer(environment: environment), hub: hub,
                requestIDs: requestIDs, eventLoop: eventLoop, clock: environment.clock,
                random: environment.random, watch: environment.watch)
        } else {
            let dialer = try Dialer(
                to: configuration.servers, tls: configuration.tls, proxy: configuration.proxy,
                timeout: configuration.requestTimeout, eventLoop: eventLoop)
            link = Link(
                configuration, dialer: dialer, hub: hub, requestIDs: requestIDs, eventLoop: eventLoop)
        }
        self.eventLoop = eventLoop
        self.hub = hub
        self.requestIDs = requestIDs
        let box = NIOLoopBoundBox<Link>.makeBoxSendingValue(link, eventLoop: eventLoop)
        self.link = box
        watch = environment?.watch
        networkPath = environment == nil ? NetworkPath(eventLoop, box) : nil
        watch?.joined(WatchedClient(hub: hub, link: box))
    }

    deinit {
        eventLoop.execute { [link] in link.value.close(nil) }
        watch?.left(WatchedClient(hub: hub, link: link))
    }

    /// The state of the link at this moment. ``linkStates`` has its changes, too.
    public var linkState: LinkState { hub.linkState }

    /// Makes a new consumer of all events from now on. Each call makes an independent one.
    ///
    /// A consumer that falls behind by more than its buffer loses the oldest events and finds
    /// ``RTMEvent/overflow(dropped:)`` in their place; other consumers aren't affected. The sequence ends
    /// after `close()`, once what was buffered has been read, and when the client is released. One task
    /// should iterate one sequence, because two tasks that iterate the same sequence share its events between
    /// them.
    public func events(buffering: EventBuffering? = nil) -> RTMEvents {
        hub.makeConsumer(buffering ?? .dropOldest(capacity: configuration.eventBufferCapacity))
    }

    /// The events of one kind, with a buffer that no others take up.
    func events(where isWanted: @escaping @Sendable (RTMEvent) -> Bool) -> RTMEvents {
        hub.makeConsumer(.dropOldest(capacity: configuration.eventBufferCapacity), where: isWanted)
    }

    /// Sends all events from now on to this sink, on the client's event loop and in the order in which calls
    /// end there, too.
    package func attach(_ sink: some EventSink) { hub.add(sink) }

    /// Connects and logs in. Afterwards the client stays logged in by itself until `logout`, `close` or a
    /// fatal cause.
    ///
    /// It may be called again while the client is logged in. With a new token it renews the token of the
    /// session (S-7).
    ///
    /// - Parameter token: a token for this app and user. `nil` presents the token of the configuration or,
    ///   while a session is being taken up again, the newest token of that session. If there is none the app
    ///   id is sent, which serves apps without certificate (S-1). With a
    ///   ``Configuration/tokenProvider`` that one is asked instead, as a part of each attempt that needs a
    ///   token (S-53).
    /// - Throws: `.loginCanceled` (-10023) if a newer `login`, a `logout` or a cancellation replaced this
    ///   call (S-6); `.loginTimeout` (-10011) if no server was reached within two minutes, or within the
    ///   configured `reconnectTimeout` (S-13); and the errors with which the server refuses a login:
    ///   `.invalidAppId` (-10003), `.invalidToken` (-10005), `.invalidUserId` (-10006), `.tokenExpired`
    ///   (-10009), `.loginRejected` (-10012), `.loginNotAuthorized` (-10015), `.loginInconsistentAppId`
    ///   (-10016). `.loginRejected` (-10012) also says that the proxy refuses (N-1). Without a
    ///   `reconnectTimeout` attempts continue even after `.loginTimeout` (-10011).
    public func login(token: String? = nil) async throws(RTMError) {
        if let token { try check(.login) { () throws(RTMError) in try Credential.check(token) } }
        try await perform(.login) { link, completion in link.calls.login(token: token, completion) }
    }

    /// Reports that the device's network has changed, or that waiting any longer makes no sense. A client
    /// that is logged in connects anew at once and resumes what is under way (T7). A client that waits for
    /// its next attempt makes it now. In `idle` and `failed` nothing happens.
    ///
    /// On Apple platforms and on Linux the client notices changes of the network by itself.
    public func networkChanged() {
        eventLoop.execute { [link] in link.value.calls.networkChanged() }
    }

    /// Replaces the token of the session before it expires. The link state doesn't change. The client comes
    /// back with the newest token after a loss (S-52).
    ///
    /// A token that is refused changes nothing. The session lives on until the old token expires. While the
    /// connection is lost this is `login(token:)`: the session is taken up with the new token at once, the
    /// call ends as such a login does, and a token that is refused ends the session.
    ///
    /// - Throws: `.invalidToken` (-10005) if the token isn't valid for this app and user, `.tokenExpired`
    ///   (-10009) if it has expired, `.loginNotAuthorized` (-10015) if it isn't for this service,
    ///   `.loginInconsistentAppId` (-10016) if it belongs to another app, `.channelSubscribePermissionDenied`
    ///   (-11038) if it takes away what is subscribed, `.operationRateExceedLimitation` (-10021) if called
    ///   more than twice a second, `.notLogin` (-10002) if not logged in, `.notConnected` (-10025) while
    ///   the first login is under way, and `.renewTokenTimeout` (-10026) without an answer in time: then the
    ///   token may have been renewed.
    public func renewToken(_ token: String) async throws(RTMError) {
        try check(.renewToken) { () throws(RTMError) in try Credential.check(token) }
        try await perform(.renewToken) { link, completion in link.calls.renewToken(token, completion) }
    }

    /// Ends the session. Others see the user leave at once, and all subscriptions end (S-22).
    ///
    /// - Throws: `.notLogin` (-10002) if not logged in.
    public func logout() async throws(RTMError) {
        try await perform(.logout) { link, completion in link.calls.logout(completion) }
    }

    /// Logs out, releases everything and ends all event sequences. Calling it again does nothing.
    ///
    /// Calls that are under way, and every later call, throw `.instanceAlreadyReleased` (-10018).
    public func close() async {
        await withCheckedContinuation { continuation in
            eventLoop.execute { [link, watch] in
                watch?.began()
                link.value.close(continuation)
            }
        }
        watch?.answered()
        watch?.resumed()
    }
}
