// How a connection becomes a session: Hello and Login, then everything is restored that an earlier connection
// of the same session had (S-19).

import RTMModel
import RTMProtocol
import SwiftProtobuf

final class SessionOpening {
    private unowned let link: Link

    init(_ link: Link) { self.link = link }

    /// Hello and Login leave in one write, so that a login costs one round trip.
    func begin() {
        link.requests.tell { $0.hello = .current }
        logIn()
    }

    /// On a connection that has said Hello.
    func logIn() {
        var login = login
        let offer = LoginOffer(
            channels: link.subscriptions.table.restorations, users: link.followedUsers.table.restorations,
            tokenBytes: login.token.utf8.count, nextID: link.requests.nextID)
        offer.add(to: &login)
        let id = link.requests.tell { $0.login = login }
        link.connection?.loginRequest = id
        link.connection?.offer = offer
    }

    private var login: Rtm_Client_Login {
        let configuration = link.configuration
        var login = Rtm_Client_Login()
        login.appID = configuration.appID
        login.userID = configuration.userID
        login.token = link.machine.token ?? configuration.appID
        login.heartbeatIntervalS = configuration.heartbeatSeconds
        login.presenceTimeoutS = configuration.presenceTimeoutSeconds
        login.instance = link.instance
        login.attempt = link.connection?.attempt ?? 0
        login.asked = link.machine.pendingLogin != nil
        if let seen = link.messages.inbox.seen { login.inboxAfter = Rtm_Client_StreamPosition(seen) }
        return login
    }

    func loggedIn(_ answer: Rtm_Client_LoggedIn) {
        guard let attempt = link.connection?.attempt, link.connection?.heartbeat == nil else { return }
        link.time.learned(answer.serverTimeMs)
        link.machine.loginAccepted(attempt: attempt, now: link.now)
        link.connection?.heartbeat = heartbeat(of: answer)
        let isComplete = link.messages.loggedIn(
            inbox: StreamPosition(answer.inboxPosition), hasGap: answer.inboxGap)
        if !isComplete { link.connection?.restoration.hasInboxGap = true }
        restore(
            taken: link.connection?.offer.take()?.taken(by: answer) ?? ([], []),
            rates: answer.hasPublishRates ? answer.publishRates : nil)
        link.armTimer()
    }

    private func heartbeat(of answer: Rtm_Client_LoggedIn) -> HeartbeatSchedule {
        let timing = link.configuration.timing
        let seconds =
            answer.heartbeatIntervalS > 0 ? answer.heartbeatIntervalS : link.configuration.heartbeatSeconds
        var interval = timing.heartbeatInterval ?? .seconds(seconds)
        // A stalled path is to be noticed soon.
        if link.standby != nil { interval = min(interval, timing.paths.beat) }
        return HeartbeatSchedule(
            interval: interval, answerWithin: timing.heartbeatAnswer, now: link.now)
    }

    /// Restores what the session had (S-19). Locks come before the channels, so that the app hears what
    /// became of its locks before it hears what the channels say (K-12).
    ///
    /// - Parameter taken: the subscriptions that the server answers for, because the login carried them.
    private func restore(
        taken: (channels: [LoginOffer.Item], users: [LoginOffer.Item]), rates: Rtm_Client_PublishRates?
    ) {
        link.messages.sendLostAgain()
        if link.connection?.isSecondPath == true { link.requests.askAgain() }
        link.messages.pace(rates)
        link.locks.restore()
        link.subscriptions.restore(taken: taken.channels)
        link.followedUsers.restore(taken: taken.users)
        finishIfDone()
    }

    /// The server has answered for one restoration.
    func restorationEnded() {
        link.connection?.restoration.end()
        finishIfDone()
    }

    private func finishIfDone() {
        guard let connection = link.connection, connection.restoration.isDone else { return }
        let restoration = connection.restoration
        link.perform(
            link.machine.restored(
                attempt: connection.attempt, unrestoredChannels: restoration.unrestoredChannels,
                interruptedChannels: restoration.interruptedChannels,
                isIncomplete: restoration.isIncomplete, now: link.now))
        // The app knows now that it is connected again (T9). Lost locks come next (K-12), then what the
        // channels brought meanwhile.
        link.locks.announceLost()
        link.events.releaseAll()
        link.locks.standInLineAgain()
    }

    /// The app hears once per token that it is about to expire (S-50).
    func received(_ notice: Rtm_Client_TokenWillExpire) {
        guard !notice.channel.isEmpty || link.machine.announceTokenExpiry() else { return }
        link.events.emit(
            .tokenWillExpire(
                TokenWillExpireEvent(
                    remaining: .milliseconds(notice.remainingMs),
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
