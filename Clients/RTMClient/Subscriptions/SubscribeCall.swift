import RTMModel
import RTMProtocol

/// A subscribe of the app.
struct SubscribeCall: Request {
    let subscriptions: Subscriptions
    let completion: Completion<SubscriptionConfirmation>
    let channel: ChannelID
    let features: SubscriptionFeatures
    let repetition: ClientBody?

    var operation: Operation { completion.operation }

    func answered(_ body: ServerBody) -> Bool {
        guard case .subscribed(let answer) = body else { return false }
        subscriptions.confirmed(self, answer)
        return true
    }

    func isPostponed(by refusal: Rtm_Client_Error) -> Bool {
        let isWanted = subscriptions.subscribed.table.isWanted(channel, request: completion.id)
        guard isWanted, refusal.isOfOutage else { return false }
        subscriptions.postpone(self, RTMError(refusal, unknownCode: operation.codes.refused))
        return true
    }

    func refused(_ error: RTMError) {
        _ = subscriptions.subscribed.table.abandon(channel, request: completion.id)
        completion.fail(error)
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        if let refusal = subscriptions.postponed.remove(completion.id) {
            refused(error.code == operation.codes.timedOut ? refusal : error)
            return nil
        }
        defer { completion.fail(error) }
        guard let running = subscriptions.abandon(channel, request: completion.id) else { return nil }
        return { body in
            guard case .subscribed(let answer) = body else { return }
            subscriptions.confirmedLate(channel, features, running: running, answer)
        }
    }

    func lost(_ reason: String) {
        subscriptions.postponed.remove(completion.id)
        _ = subscriptions.subscribed.table.abandon(channel, request: completion.id)
        completion.fail(.notConnected, "the connection was lost: \(reason)")
    }
}

extension Rtm_Client_Error {
    /// Whether nothing is wrong with a subscribe that is refused so, and a repetition may succeed soon: the
    /// channel's messaging node is being replaced.
    fileprivate var isOfOutage: Bool {
        (code == .errorChannelSubscribeFailed || code == .errorChannelJoinFailed) && retryAfterMs > 0
            && !hasLimit
    }
}

/// An unsubscribe of the app.
struct UnsubscribeRequest: Request {
    let subscriptions: Subscriptions
    let completion: Completion<Void>
    let channel: ChannelID

    var operation: Operation { completion.operation }
    /// It must not end before a subscribe that is sent again.
    var repetition: ClientBody? { .unsubscribe(Rtm_Client_Unsubscribe(channel)) }

    func answered(_ body: ServerBody) -> Bool {
        guard case .unsubscribed = body else { return false }
        subscriptions.left(channel)
        completion.succeed()
        return true
    }

    func refused(_ error: RTMError) {
        // The server has no subscription that could continue.
        if error.isNotSubscribed {
            subscriptions.left(channel)
            // After a change of the path there may be nothing left to end.
            if subscriptions.isOnSecondPath { return completion.succeed() }
        } else {
            subscriptions.subscribed.table.stay(channel)
        }
        completion.fail(error)
    }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        subscriptions.leftUnheard(channel)
        completion.fail(error)
        return nil
    }

    /// The channel isn't restored, which is what the app asked for (S-16).
    func lost(_ reason: String) {
        subscriptions.leftUnheard(channel)
        completion.succeed()
    }
}

/// The client's own subscribe after a reconnect, which continues a subscription of the app (S-19).
struct RestoreRequest: Request {
    let subscriptions: Subscriptions
    let restoration: SubscriptionTable.Restoration

    var operation: Operation { .subscribe }

    func answered(_ body: ServerBody) -> Bool {
        guard case .subscribed(let answer) = body else { return false }
        subscriptions.restored(restoration, answer)
        return true
    }

    func refused(_ error: RTMError) { subscriptions.restorationRefused(restoration.channel, error) }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        subscriptions.restorationUnanswered()
        return nil
    }

    /// The next connection restores the subscription.
    func lost(_ reason: String) {}
}

/// Subscribes of the app that the server refused for the moment, and that wait to be sent again.
struct PostponedSubscribes {
    private var requests: [UInt64: (channel: ChannelID, refusal: RTMError)] = [:]

    /// - Parameter refusal: what the app learns if the time of its call is over first.
    mutating func add(_ id: UInt64, of channel: ChannelID, _ refusal: RTMError) {
        requests[id] = (channel, refusal)
    }

    /// Nobody waits for the subscribe any more.
    ///
    /// - Returns: what the server refused it with, if it is here.
    @discardableResult
    mutating func remove(_ id: UInt64) -> RTMError? { requests.removeValue(forKey: id)?.refusal }

    /// A channel has one subscribe at a time (M-8).
    @discardableResult
    mutating func remove(of channel: ChannelID) -> UInt64? {
        guard let id = requests.first(where: { $0.value.channel == channel })?.key else { return nil }
        requests[id] = nil
        return id
    }

    /// Those that are to be sent now, in the order of the app.
    mutating func takeAll() -> [UInt64] {
        defer { requests = [:] }
        return requests.keys.sorted()
    }
}

/// Channels that the app has left without a connection, or without an answer of the server.
/// Until the presence timeout others see the user there. A server passes over an unsubscribe of what a
/// connection isn't subscribed to, so the next connection takes them up and ends them (S-16, M-6).
struct LeftSubscriptions {
    private var entries:
        [ChannelID: (restoration: SubscriptionTable.Restoration, until: LinkSession.Instant)] =
            [:]

    subscript(channel: ChannelID) -> SubscriptionTable.Restoration? { entries[channel]?.restoration }

    /// - Parameter time: who was away until then has left already, and would be seen to come.
    mutating func add(_ restorations: [SubscriptionTable.Restoration], until time: LinkSession.Instant) {
        for restoration in restorations { entries[restoration.channel] = (restoration, time) }
    }

    mutating func remove(_ channel: ChannelID) { entries[channel] = nil }

    /// What the new connection takes up to end it. A stream channel comes before its topics.
    mutating func restorations(now: LinkSession.Instant) -> [SubscriptionTable.Restoration] {
        entries = entries.filter { now < $0.value.until }
        return entries.values.map(\.restoration).sorted { $0.channel < $1.channel }
    }
}

extension Rtm_Client_Subscribe {
    init(_ wanted: SubscriptionTable.Restoration) {
        self.init()
        let id = wanted.channel
        if id.type != .message { channelType = Rtm_Client_ChannelType(id.type) }
        channel = id.name
        features = id.type == .topic ? 0 : wanted.features.rawValue
        if let after = wanted.after { self.after = Rtm_Client_StreamPosition(after) }
        token = wanted.detail.token
        publishers = wanted.detail.publishers
        states = .init(wanted.states)
    }
}

extension Rtm_Client_Unsubscribe {
    init(_ id: ChannelID) {
        self.init()
        if id.type != .message { channelType = Rtm_Client_ChannelType(id.type) }
        channel = id.name
    }
}
