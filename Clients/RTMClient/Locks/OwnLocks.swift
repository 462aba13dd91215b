// The locks that this client acquires, owns, waits for and releases. `LockLedger` knows which ones it owns.

import RTMModel
import RTMProtocol

final class OwnLocks {
    private let session: LinkSession
    private let requests: Requests
    private let events: EventOutlet
    private let subscribed: LinkSubscriptions
    private var ledger = LockLedger()
    /// Acquisitions that were removed from the server's queue, in the order in which they began (K-6).
    private var waiting: [LockCall] = []

    init(
        session: LinkSession, requests: Requests, events: EventOutlet, subscribed: LinkSubscriptions
    ) {
        self.session = session
        self.requests = requests
        self.events = events
        self.subscribed = subscribed
    }

    // MARK: Calls

    func perform(_ call: LockCall) {
        guard requests.isReady(for: call.completion) else { return }
        do {
            try ledger.begin(call.operation, call.key)
        } catch {
            return call.completion.fail(error)
        }
        send(call)
    }

    private func send(_ call: LockCall) {
        let request = LockCallRequest(locks: self, call: call)
        requests.send(request, id: call.completion.id, within: call.waits ? .unlimited : .usual) {
            $0.body = call.body
        }
    }

    private func end(_ call: LockCall, _ result: Result<UInt64, RTMError>) {
        ledger.end(call.operation, call.key)
        switch result {
        case .success(let token): call.completion.succeed(token)
        case .failure(let error): call.completion.fail(error)
        }
    }

    func acquired(_ call: LockCall, token: UInt64) {
        ledger.acquired(call.key, token: token)
        end(call, .success(token))
    }

    func done(_ call: LockCall) {
        if call.operation == .releaseLock || call.operation == .removeLock { ledger.released(call.key) }
        if case .setLock(let request) = call.body {
            let seconds = Limits.clamp(Int(request.ttlS), to: Limits.lockTTL)
            ledger.remember(.seconds(seconds), of: call.key)
        }
        end(call, .success(0))
    }

    func refused(_ call: LockCall, _ error: RTMError) {
        if let pause = call.pauseAfter(error) {
            wait(call)
            return session.retry(.lockQueues, after: pause)
        }
        if error.isNotHeld, call.operation == .releaseLock { ledger.released(call.key) }
        end(call, .failure(error))
    }

    /// - Returns: whether the server may have given the lock, or may give it later, although nobody here
    ///   wants it any more.
    func givenUp(_ call: LockCall, _ error: RTMError) -> Bool {
        end(call, .failure(error))
        guard call.acquires, !ledger.isWanted(call.key) else { return false }
        withdraw(call.key)
        return true
    }

    func lost(_ call: LockCall, _ reason: String) {
        // An acquisition that waits continues to wait, from the end of the queue (K-6).
        guard !call.waits else { return wait(call) }
        // What was to be released stays released. An acquisition whose answer was lost is undone.
        let isUnanswered = call.acquires && ledger.token(of: call.key) == nil
        if isUnanswered || call.operation == .releaseLock { ledger.disown(call.key) }
        end(call, .failure(.answerLost(call.operation, reason)))
    }

    /// An acquisition was answered for which nobody waited any more.
    func acquiredLate(_ key: LockKey) {
        if !ledger.isWanted(key) { withdraw(key) }
    }

    // MARK: Releasing

    /// Releases the lock now, or as soon as there is a connection again. The call succeeds in any case.
    func release(_ key: LockKey, _ completion: Completion<Void>) {
        guard ledger.token(of: key) != nil else { return completion.succeed() }
        guard session.state == .connected, !requests.isFull else {
            ledger.disown(key)
            return completion.succeed()
        }
        withdraw(key, completion)
    }

    private func withdraw(_ key: LockKey, _ completion: Completion<Void>? = nil) {
        ledger.disown(key)
        guard session.connection != nil else { return }
        let request = WithdrawRequest(locks: self, key: key, completion: completion)
        requests.send(request, id: completion?.id) { $0.body = key.withdrawal }
    }

    func withdrawn(_ key: LockKey) { ledger.released(key) }

    // MARK: Coming back

    /// Claims what was held, before the channels are restored. The link counts as connected only after the
    /// answers (K-12).
    func restore() {
        let claims = ledger.beginClaims()
        session.beginRestorations(claims.count)
        for claim in claims {
            if claim.key.channel.type == .message { events.hold(claim.key.channel) }
            // A storage that doesn't answer must not cost the session: the time of the claims is over before
            // that of the attempt.
            let time = AnswerTime.limited(session.configuration.requestTimeout / 2)
            requests.send(ClaimRequest(locks: self, claim: claim), within: time) {
                $0.body = claim.key.acquisition(heldToken: claim.token)
            }
        }
        for key in ledger.leftovers { withdraw(key) }
    }

    func confirmed(_ claim: LockLedger.Claim, token: UInt64) {
        ledger.confirmed(claim, token: token)
        session.restorationEnded()
    }

    func refused(_ claim: LockLedger.Claim, _ error: RTMError) {
        guard error.isNotHeld else { return undecided(claim) }
        ledger.refused(claim)
        // An acquisition whose answer was lost may have made the lock this client's again.
        if !ledger.isWanted(claim.key) { withdraw(claim.key) }
        session.restorationEnded()
    }

    /// The server can't say whose the lock is. The next return asks again.
    func undecided(_ claim: LockLedger.Claim) {
        ledger.undecided(claim)
        session.restorationEnded()
    }

    /// Reports the locks that were lost while there was no connection (K-12).
    func announceLost() {
        let lost = Dictionary(grouping: ledger.takeLost()) { $0.key.channel }
        let now = session.clock.milliseconds
        for (channel, claims) in lost.sorted(by: { $0.key < $1.key }) {
            let details = claims.map {
                LockDetail(
                    name: $0.key.name, owner: session.userID,
                    ttl: $0.ttl ?? .seconds(Limits.lockTTL.lowerBound), fencingToken: $0.token,
                    timestampMilliseconds: now)
            }
            let event = LockEvent(
                kind: .expired, channelType: channel.type, channelName: channel.name, locks: details,
                timestampMilliseconds: now)
            events.emit(.lock(event))
        }
    }

    // MARK: Waiting

    private func wait(_ call: LockCall) {
        var call = call
        call.isRenewed = true
        waiting.append(call)
    }

    /// Sends the acquisitions again that wait, which puts them at the end of the server's queue.
    func queueAgain() {
        session.cancelRetry(.lockQueues)
        let calls = waiting
        waiting = []
        for call in calls { send(call) }
    }

    /// The app left the channel while there was no connection (K-6).
    func endWaits(in channel: ChannelID) {
        endWaits(.lockOperationFailed, "the channel was left") {
            $0.key.channel == channel
        }
    }

    /// The session is over: the app logged out, or the link failed for good.
    func forgetAll() {
        ledger.removeAll()
        let gaveUp = session.lastChange?.reasonCode == .reconnectTimeout
        endWaits(gaveUp ? .lockOperationTimeout : .lockOperationFailed, "the session has ended") { _ in true }
    }

    private func endWaits(_ code: ErrorCode, _ reason: String, where isEnded: (LockCall) -> Bool) {
        let ended = waiting.filter(isEnded)
        waiting.removeAll(where: isEnded)
        for call in ended { end(call, .failure(session.isClosed ? .released : RTMError(code, reason))) }
    }

    /// The task that waited while there was no connection was cancelled.
    ///
    /// - Returns: whether there was such a call.
    func cancelWait(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.completion.id == id }) else { return false }
        let call = waiting.remove(at: index)
        end(call, .failure(.cancelled(call.operation)))
        if !ledger.isWanted(call.key) { ledger.disown(call.key) }
        return true
    }

    // MARK: What the server sends

    func received(_ snapshot: Rtm_Client_Locks) {
        let channel = ChannelID(snapshot.channelType, snapshot.channel)
        // After a change of the path (N-5) a snapshot that was shown already is left out.
        let isKnown = subscribed.table.revision(.locks, of: channel) == snapshot.revision
        if isKnown, session.isOnSecondPath { return }
        guard subscribed.table.begin(.locks, of: channel, at: snapshot.revision) else { return }
        let now = session.clock.milliseconds
        show(
            LockEvent(
                kind: .snapshot, channelType: channel.type, channelName: channel.name,
                locks: snapshot.locks.map { LockDetail($0, at: now) }, timestampMilliseconds: now),
            in: channel)
    }

    func received(_ event: Rtm_Client_LockEvent, in publication: Rtm_Client_Publication) {
        let channel = ChannelID(publication.channelType, publication.channel)
        guard subscribed.table.accepts(.locks, revision: event.revision, of: channel),
            let kind = LockEvent.Kind(event.type)
        else { return }
        show(
            LockEvent(
                kind: kind, channelType: channel.type, channelName: channel.name,
                locks: [LockDetail(event.lock, at: publication.timestampMs)],
                timestampMilliseconds: publication.timestampMs), in: channel)
    }

    private func show(_ event: LockEvent, in channel: ChannelID) {
        for lock in event.locks { ledger.observed(lock, event.kind, in: channel) }
        events.emit(.lock(event), of: channel)
    }
}

extension RTMError {
    /// The server says that this client doesn't have the lock.
    var isNotHeld: Bool { code == .lockNotAcquired || code == .lockNotExist }
}
