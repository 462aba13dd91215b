// The locks that this client takes, holds, waits for and gives back. What is held, `LockLedger` knows.

import RTMModel
import RTMProtocol

final class OwnLocks {
    private unowned let link: Link
    private var ledger = LockLedger()
    /// Acquisitions that lost their place in line, in the order in which they began (K-6).
    private var waiting: [LockCall] = []

    init(_ link: Link) { self.link = link }

    // MARK: Calls

    func perform(_ call: LockCall) {
        guard link.requests.isReady(for: call.completion) else { return }
        do {
            try ledger.begin(call.operation, call.key)
        } catch {
            return call.completion.fail(error)
        }
        send(call)
    }

    private func send(_ call: LockCall) {
        let request = LockCallRequest(locks: self, call: call)
        link.requests.ask(request, id: call.completion.id, within: call.waits ? .unlimited : .usual) {
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
            putInLine(call)
            return link.retry(.lockLines, after: pause)
        }
        if error.saysNotHeld, call.operation == .releaseLock { ledger.released(call.key) }
        end(call, .failure(error))
    }

    /// - Returns: whether the server may have given the lock, or may give it later, although nobody here
    ///   wants it any more.
    func givenUp(_ call: LockCall, _ error: RTMError) -> Bool {
        end(call, .failure(error))
        guard call.acquires, !ledger.isWanted(call.key) else { return false }
        giveBack(call.key)
        return true
    }

    func lost(_ call: LockCall, _ reason: String) {
        // An acquisition that waits goes on waiting, from the end of the line (K-6).
        guard !call.waits else { return putInLine(call) }
        // What was to be released stays released. An acquisition whose answer nobody heard is undone.
        let isUnheard = call.acquires && ledger.token(of: call.key) == nil
        if isUnheard || call.operation == .releaseLock { ledger.letGo(call.key) }
        end(call, .failure(.answerLost(call.operation, reason)))
    }

    /// An acquisition was answered for which nobody waited any more.
    func acquiredLate(_ key: LockKey) {
        if !ledger.isWanted(key) { giveBack(key) }
    }

    // MARK: Giving back

    /// Releases the lock now, or as soon as there is a connection again. The call succeeds in any case.
    func letGo(_ key: LockKey, _ completion: Completion<Void>) {
        guard ledger.token(of: key) != nil else { return completion.succeed() }
        guard link.state == .connected, !link.requests.isFull else {
            ledger.letGo(key)
            return completion.succeed()
        }
        giveBack(key, completion)
    }

    private func giveBack(_ key: LockKey, _ completion: Completion<Void>? = nil) {
        ledger.letGo(key)
        guard link.connection != nil else { return }
        let request = WithdrawRequest(locks: self, key: key, completion: completion)
        link.requests.ask(request, id: completion?.id) { $0.body = key.withdrawal }
    }

    func givenBack(_ key: LockKey) { ledger.released(key) }

    // MARK: Coming back

    /// Claims what was held, before the channels are restored. The link counts as connected only after the
    /// answers (K-12).
    func restore() {
        let claims = ledger.beginClaims()
        link.connection?.restoration.begin(claims.count)
        for claim in claims {
            if claim.key.channelType == .message { link.events.hold(claim.key.channel) }
            // A storage that doesn't answer must not cost the session: the time of the claims is over before
            // that of the attempt.
            let time = AnswerTime.limited(link.configuration.requestTimeout / 2)
            link.requests.ask(ClaimRequest(locks: self, claim: claim), within: time) {
                $0.body = claim.key.acquisition(heldToken: claim.token)
            }
        }
        for key in ledger.leftovers { giveBack(key) }
    }

    func confirmed(_ claim: LockLedger.Claim, token: UInt64) {
        ledger.confirmed(claim, token: token)
        link.opening.restorationEnded()
    }

    func refused(_ claim: LockLedger.Claim, _ error: RTMError) {
        guard error.saysNotHeld else { return undecided(claim) }
        ledger.refused(claim)
        // An acquisition whose answer was lost may have made the lock this client's again.
        if !ledger.isWanted(claim.key) { giveBack(claim.key) }
        link.opening.restorationEnded()
    }

    /// The server can't say whose the lock is. The next return asks again.
    func undecided(_ claim: LockLedger.Claim) {
        ledger.undecided(claim)
        link.opening.restorationEnded()
    }

    /// Tells the app which locks it lost while the connection was away (K-12).
    func announceLost() {
        let lost = Dictionary(grouping: ledger.takeLost()) { $0.key.place }
        let now = link.time.milliseconds
        for (place, claims) in lost.sorted(by: { $0.key < $1.key }) {
            let details = claims.map {
                LockDetail(
                    name: $0.key.name, owner: link.configuration.userID,
                    ttl: $0.ttl ?? .seconds(Limits.lockTTL.lowerBound), fencingToken: $0.token,
                    timestampMilliseconds: now)
            }
            let event = LockEvent(
                kind: .expired, channelType: place.channelType, channelName: place.channel, locks: details,
                timestampMilliseconds: now)
            link.events.emit(.lock(event))
        }
    }

    // MARK: Waiting in line

    private func putInLine(_ call: LockCall) {
        var call = call
        call.isRenewed = true
        waiting.append(call)
    }

    func standInLineAgain() {
        link.connection?.retries.remove(.lockLines)
        let calls = waiting
        waiting = []
        for call in calls { send(call) }
    }

    /// The app left the channel while there was no connection (K-6).
    func endWaits(in channel: UserChannel) {
        endWaits(.lockOperationFailed, "the channel was left") {
            $0.key.channelType == channel.type && $0.key.channel == channel.name
        }
    }

    /// The session is over: the app logged out, or the link failed for good.
    func forgetAll() {
        ledger.removeAll()
        let gaveUp = link.lastReason == .reconnectTimeout
        endWaits(gaveUp ? .lockOperationTimeout : .lockOperationFailed, "the session has ended") { _ in true }
    }

    private func endWaits(_ code: ErrorCode, _ reason: String, where isEnded: (LockCall) -> Bool) {
        let ended = waiting.filter(isEnded)
        waiting.removeAll(where: isEnded)
        for call in ended { end(call, .failure(link.isClosed ? .released : RTMError(code, reason))) }
    }

    /// The task that waited while there was no connection was cancelled.
    ///
    /// - Returns: whether there was such a call.
    func cancelWait(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.completion.id == id }) else { return false }
        let call = waiting.remove(at: index)
        end(call, .failure(.cancelled(call.operation)))
        if !ledger.isWanted(call.key) { ledger.letGo(call.key) }
        return true
    }

    // MARK: What the server sends

    func received(_ snapshot: Rtm_Client_Locks) {
        let type = ChannelType(snapshot.channelType)
        let label = UserChannel(type: type, name: snapshot.channel).label
        // After a change of the path (N-5) a snapshot of what was shown is no news.
        let isKnown = link.subscriptions.table.revision(.locks, of: label) == snapshot.revision
        if isKnown, link.connection?.isSecondPath == true { return }
        guard link.subscriptions.table.begin(.locks, of: label, at: snapshot.revision) else { return }
        let now = link.time.milliseconds
        show(
            LockEvent(
                kind: .snapshot, channelType: type, channelName: snapshot.channel,
                locks: snapshot.locks.map { LockDetail($0, at: now) }, timestampMilliseconds: now))
    }

    func received(_ event: Rtm_Client_LockEvent, in publication: Rtm_Client_Publication) {
        let channel = publication.channel
        let label = UserChannel(publication.channelType, channel).label
        guard link.subscriptions.table.accepts(.locks, revision: event.revision, of: label),
            let kind = LockEvent.Kind(event.type)
        else { return }
        show(
            LockEvent(
                kind: kind, channelType: ChannelType(publication.channelType), channelName: channel,
                locks: [LockDetail(event.lock, at: publication.timestampMs)],
                timestampMilliseconds: publication.timestampMs))
    }

    private func show(_ event: LockEvent) {
        for lock in event.locks {
            ledger.observed(lock, event.kind, type: event.channelType, channel: event.channelName)
        }
        link.events.emit(.lock(event), of: event.channelName, event.channelType)
    }
}

extension RTMError {
    /// The server says that this client doesn't have the lock.
    var saysNotHeld: Bool { code == .lockNotAcquired || code == .lockNotExist }
}
