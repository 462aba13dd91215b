// How a connection becomes a session: Hello and Login, then everything is restored that an earlier connection
// of the same session had (S-19).

import RTMModel
import RTMProtocol
import SwiftProtobuf

final class SessionOpening {
    private let session: LinkSession
    private let requests: Requests
    private let events: EventOutlet
    private let instance: UInt64
    private let subscribed: LinkSubscriptions
    private let subscriptions: Subscriptions
    private let followedUsers: FollowedUsers
    private let messages: Messages
    private let locks: OwnLocks
    private let tokens: TokenKeeper?

    /// - Parameter instance: the number of this client object (S-12b).
    init(
        session: LinkSession, requests: Requests, events: EventOutlet, instance: UInt64,
        subscribed: LinkSubscriptions, subscriptions: Subscriptions, followedUsers: FollowedUsers,
        messages: Messages, locks: OwnLocks, tokens: TokenKeeper?
    ) {
        self.session = session
        self.requests = requests
        self.events = events
        self.instance = instance
        self.subscribed = subscribed
        self.subscriptions = subscriptions
        self.followedUsers = followedUsers
        self.messages = messages
        self.locks = locks
        self.tokens = tokens
    }

    /// Hello and Login leave in one write, so that a login costs one round trip.
    func begin() {
        requests.notify { $0.hello = .current }
        logIn()
    }

    /// On a connection that has said Hello.
    func logIn() {
        var login = login
        let offer = LoginOffer(
            channels: subscriptions.restorations, users: subscribed.table.userRestorations,
            tokenBytes: login.token.utf8.count, nextID: requests.nextID)
        offer.add(to: &login)
        let id = requests.notify { $0.login = login }
        session.connection?.loginRequest = id
        session.connection?.offer = offer
    }

    private var login: Rtm_Client_Login {
        let configuration = session.configuration
        var login = Rtm_Client_Login()
        login.appID = configuration.appID
        login.userID = configuration.userID
        login.token = session.machine.token ?? configuration.appID
        login.heartbeatIntervalS = configuration.heartbeatSeconds
        login.presenceTimeoutS = configuration.presenceTimeoutSeconds
        login.instance = instance
        login.attempt = session.connection?.attempt ?? 0
        login.asked = session.machine.pendingLogin != nil
        if let seen = messages.inbox.seen { login.inboxAfter = Rtm_Client_StreamPosition(seen) }
        return login
    }

    func loggedIn(_ answer: Rtm_Client_LoggedIn) {
        guard let attempt = session.connection?.attempt, session.connection?.heartbeat == nil else { return }
        session.clock.serverClockShows(answer.serverTimeMs)
        session.machine.loginAccepted(attempt: attempt, now: session.now)
        session.connection?.heartbeat = heartbeat(of: answer)
        let isComplete = messages.loggedIn(
            inbox: StreamPosition(answer.inboxPosition), hasGap: answer.inboxGap)
        if !isComplete { session.connection?.restoration.hasInboxGap = true }
        restore(
            taken: session.connection?.offer.take()?.taken(by: answer) ?? ([], []),
            rates: answer.hasPublishRates ? answer.publishRates : nil)
        session.rearmTimer()
    }

    private func heartbeat(of answer: Rtm_Client_LoggedIn) -> HeartbeatSchedule {
        let configuration = session.configuration
        let timing = configuration.timing
        let seconds =
            answer.heartbeatIntervalS > 0 ? answer.heartbeatIntervalS : configuration.heartbeatSeconds
        var interval = timing.heartbeatInterval ?? .seconds(seconds)
        // A stalled path is to be noticed soon.
        if configuration.secondPath != nil { interval = min(interval, timing.paths.beat) }
        return HeartbeatSchedule(
            interval: interval, answerWithin: timing.heartbeatAnswer, now: session.now)
    }

    /// Restores what the session had (S-19). Locks come before the channels, so that the app gets the events
    /// of its lost locks before those of the channels (K-12).
    ///
    /// - Parameter taken: the subscriptions that the server answers for, because the login carried them.
    private func restore(
        taken: (channels: [LoginOffer.Item], users: [LoginOffer.Item]), rates: Rtm_Client_PublishRates?
    ) {
        messages.resendLost()
        if session.isOnSecondPath { requests.resendRepeatable() }
        messages.pace(rates)
        locks.restore()
        subscriptions.restore(taken: taken.channels)
        followedUsers.restore(taken: taken.users)
        finishIfRestored()
    }

    /// The link counts as connected when the server has answered for every restoration.
    func finishIfRestored() {
        guard let connection = session.connection, connection.restoration.isDone else { return }
        let restoration = connection.restoration
        session.connection?.restoration.isReported = true
        session.perform(
            session.machine.restored(
                attempt: connection.attempt, unrestoredChannels: restoration.unrestoredChannels,
                interruptedChannels: restoration.interruptedChannels,
                isIncomplete: restoration.isIncomplete, now: session.now))
        // The app knows now that it is connected again (T9). Lost locks come next (K-12), then what the
        // channels brought meanwhile.
        locks.announceLost()
        events.releaseAll()
        locks.queueAgain()
    }

    /// The event is emitted once per token (S-50). A provider is asked on each connection that says so.
    func received(_ notice: Rtm_Client_TokenWillExpire) {
        if notice.channel.isEmpty { tokens?.renew() }
        let remaining = Duration.milliseconds(notice.remainingMs)
        guard !notice.channel.isEmpty || session.machine.tokenExpires(in: remaining, now: session.now) else {
            return
        }
        events.emit(
            .tokenWillExpire(
                TokenWillExpireEvent(
                    remaining: remaining,
                    channelName: notice.channel.isEmpty ? nil : notice.channel)))
    }
}

extension Rtm_Client_Hello {
    /// The one version of the protocol that this client speaks.
    private static let protocolVersion: UInt32 = 1

    static var current: Rtm_Client_Hello {
        .with {
            $0.versionMin = protocolVersion
            $0.versionMax = protocolVersion
            $0.client = "RTMClient (Swift)"
        }
    }
}
