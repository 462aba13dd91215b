import RTMModel
import RTMProtocol

// How calls about locks begin and end. What is held is `LockLedger`'s to know.
extension Link {
    func perform(_ call: LockCall) {
        guard isReady(for: call.completion) else { return }
        do {
            try locks.begin(call.operation, call.key)
        } catch {
            return call.completion.fail(error)
        }
        send(call)
    }

    private func send(_ call: LockCall) {
        request(call.completion, .lock(.call(call)), within: call.waits ? .unlimited : .usual) {
            $0.body = call.body
        }
    }

    private func end(_ call: LockCall, _ result: Result<UInt64, RTMError>) {
        locks.end(call.operation, call.key)
        switch result {
        case .success(let token): call.completion.succeed(token)
        case .failure(let error): call.completion.fail(error)
        }
    }

    // MARK: Answers

    func answered(_ request: LockRequest, _ body: ServerBody) {
        switch (request, body) {
        case (_, .error(let error)):
            refused(request, RTMError(error, unknownCode: request.operation.codes.refused))
        case (.call(let call), .lockAcquired(let answer)) where call.acquires:
            locks.acquired(call.key, token: answer.fencingToken)
            end(call, .success(answer.fencingToken))
        case (.call(let call), .done) where !call.acquires:
            if call.operation == .releaseLock || call.operation == .removeLock { locks.released(call.key) }
            end(call, .success(0))
        case (.claim(let claim), .lockAcquired(let answer)):
            locks.confirmed(claim, token: answer.fencingToken)
            restorationEnded()
        case (.letGo(let key, let completion), .done):
            locks.released(key)
            completion?.succeed()
        default:
            let code = request.operation.codes.failed
            refused(request, RTMError(code, "the server's answer doesn't fit the request"))
        }
    }

    func refused(_ request: LockRequest, _ error: RTMError) {
        let isNotHeld = error.code == .lockNotAcquired || error.code == .lockNotExist
        switch request {
        case .call(let call):
            if let pause = call.pauseAfter(error) { return rejoin(call, after: pause) }
            if isNotHeld, call.operation == .releaseLock { locks.released(call.key) }
            end(call, .failure(error))
        case .claim(let claim):
            // Any other refusal leaves open whose the lock is: the next return asks again.
            if isNotHeld {
                locks.refused(claim)
                // An acquisition whose answer was lost may have made it this client's again.
                if !locks.isWanted(claim.key) { giveBack(claim.key) }
            } else {
                locks.undecided(claim)
            }
            restorationEnded()
        case .letGo(let key, let completion):
            if isNotHeld { locks.released(key) }
            completion?.succeed()
        }
    }

    /// Nobody waits for the answer any more, though it may still come.
    func giveUp(_ id: UInt64, _ request: LockRequest, _ error: RTMError) {
        switch request {
        case .call(let call):
            end(call, .failure(error))
            // The server may have given it, or may give it later: what nobody heard of must not stay.
            guard call.acquires, !locks.isWanted(call.key) else { return }
            connection?.abandonedAcquisitions[id] = call.key
            giveBack(call.key)
        case .claim(let claim):
            locks.undecided(claim)
            restorationEnded()
        case .letGo(_, let completion):
            completion?.succeed()
        }
    }

    /// An acquisition was answered that nobody waited for any more.
    func acquiredLate(_ id: UInt64) {
        guard let key = connection?.abandonedAcquisitions.removeValue(forKey: id), !locks.isWanted(key) else {
            return
        }
        giveBack(key)
    }

    /// The connection is gone before the answer.
    func lost(_ request: LockRequest, reason: String) {
        switch request {
        case .call(let call) where call.waits:
            // K-6: it goes on waiting, from the end of the line.
            var call = call
            call.isRenewed = true
            waitingForLocks.append(call)
        case .call(let call):
            // What was to be released stays released; an acquisition that nobody heard of is undone.
            let isUnheard = call.acquires && locks.token(of: call.key) == nil
            if isUnheard || call.operation == .releaseLock { locks.letGo(call.key) }
            end(
                call,
                .failure(
                    RTMError(
                        call.operation.codes.lost,
                        "the connection was lost before the answer came, what became of the call is unknown: "
                            + reason)))
        case .claim:
            break
        case .letGo(_, let completion):
            completion?.succeed()
        }
    }

    // MARK: Giving back

    /// Releases the lock now, or as soon as there is a connection again; completes in any case.
    func letGo(_ key: LockKey, _ completion: Completion<Void>) {
        guard locks.token(of: key) != nil else { return completion.succeed() }
        guard machine.state == .connected, !requests.isFull else {
            locks.letGo(key)
            return completion.succeed()
        }
        giveBack(key, completion)
    }

    private func giveBack(_ key: LockKey, _ completion: Completion<Void>? = nil) {
        locks.letGo(key)
        guard connection != nil else { return }
        let id = completion?.id ?? requestIDs.next()
        let deadline = now + configuration.requestTimeout
        requests.add(id, .lock(.letGo(key, completion)), deadline: deadline)
        send(id) { $0.body = key.withdrawal }
        armTimer(by: deadline)
    }

    // MARK: Coming back

    /// K-12: before the subscriptions, and answered for before the link counts as connected.
    func restoreLocks() {
        let claims = locks.beginClaims()
        // A storage that doesn't answer must not cost the session: the claims' time is over before the
        // attempt's.
        let deadline = now + configuration.requestTimeout / 2
        connection?.restoring += claims.count
        for claim in claims {
            if claim.key.channelType == .message { connection?.heldBack[claim.key.channel] = [] }
            let id = requestIDs.next()
            requests.add(id, .lock(.claim(claim)), deadline: deadline)
            send(id) { $0.body = claim.key.acquisition(heldToken: claim.token) }
        }
        for key in locks.leftovers { giveBack(key) }
    }

    /// T9 has been announced: now what was lost is told (K-12), then what the channels brought meanwhile.
    func returned() {
        let lost = Dictionary(grouping: locks.takeLost()) { $0.key.place }
        for (place, claims) in lost.sorted(by: { $0.key < $1.key }) {
            let details = claims.map {
                LockDetail(name: $0.key.name, owner: configuration.userID, fencingToken: $0.token)
            }
            hub.emit(
                .lock(
                    LockEvent(
                        kind: .expired, channelType: place.channelType, channelName: place.channel,
                        locks: details, timestampMilliseconds: serverTimeMilliseconds)))
        }
        deliverHeldBack()
        rejoinLines()
    }

    // MARK: Waiting in line

    private func rejoin(_ call: LockCall, after pause: Duration) {
        var call = call
        call.isRenewed = true
        waitingForLocks.append(call)
        let time = now + pause
        let earlier = connection?.rejoinLinesAt ?? time
        connection?.rejoinLinesAt = min(earlier, time)
        armTimer(by: time)
    }

    func rejoinLinesIfDue() {
        guard let time = connection?.rejoinLinesAt, now >= time else { return }
        rejoinLines()
    }

    private func rejoinLines() {
        connection?.rejoinLinesAt = nil
        let waiting = waitingForLocks
        waitingForLocks = []
        for call in waiting { send(call) }
    }

    /// The session is over: logged out, or failed for good.
    func forgetLocks() {
        locks.removeAll()
        let gaveUp = lastReason == .reconnectTimeout
        endWaits(of: nil, gaveUp ? .lockOperationTimeout : .lockOperationFailed, "the session has ended")
    }

    /// K-6: also when the app leaves the channel without a connection.
    ///
    /// - Parameter channel: nil for all.
    func endWaits(of channel: String?, _ code: ErrorCode, _ reason: String) {
        let ended = waitingForLocks.filter { channel == nil || $0.key.channel == channel }
        guard !ended.isEmpty else { return }
        waitingForLocks.removeAll { channel == nil || $0.key.channel == channel }
        for call in ended { end(call, .failure(isClosed ? .released : RTMError(code, reason))) }
    }

    /// The task that waited without a connection was cancelled. Returns whether there was such a call.
    func cancelWait(_ id: UInt64) -> Bool {
        guard let index = waitingForLocks.firstIndex(where: { $0.completion.id == id }) else { return false }
        let call = waitingForLocks.remove(at: index)
        end(call, .failure(.cancelled(call.operation)))
        if !locks.isWanted(call.key) { locks.letGo(call.key) }
        return true
    }
}
