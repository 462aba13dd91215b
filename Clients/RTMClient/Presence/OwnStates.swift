// The temporary states of this user. `StateCache` remembers what the app has set; this class sends it to the
// server, and again when the server has lost it (P-41, S-19). A subscribe brings it along (P-46); where the
// server doesn't answer that it has set it, as an older one, a call follows.

import Logging
import RTMModel
import RTMProtocol

final class OwnStates {
    /// How long until the next attempt to set states, while presence can't be reached and doesn't say when.
    private static let pause = Duration.seconds(1)

    private let session: LinkSession
    private let requests: Requests
    private let subscribed: LinkSubscriptions
    private let encryption: Encryption?
    private let rosters: Rosters
    private var cache: StateCache
    /// The newest request of the app that changes its states in a channel.
    private var latestRequests: [ChannelID: UInt64] = [:]
    /// What the newest subscribe has brought.
    private var brought: [ChannelID: [String: String]] = [:]
    private var sealed: [ChannelID: SealedStates] = [:]

    init(
        session: LinkSession, requests: Requests, subscribed: LinkSubscriptions, encryption: Encryption?,
        rosters: Rosters
    ) {
        self.session = session
        self.requests = requests
        self.subscribed = subscribed
        self.encryption = encryption
        self.rosters = rosters
        cache = StateCache(session.configuration.contentSize)
    }

    // MARK: Calls

    func set(_ items: [String: String], in channel: ChannelID, _ completion: Completion<Void>) {
        guard requests.isReady(for: completion) else { return }
        guard isSubscribed(channel) else { return hold(items, in: channel, completion) }
        let sealed: [String: String]
        do {
            sealed = try seal(items, in: channel)
        } catch {
            return completion.fail(error)
        }
        latestRequests[channel] = completion.id
        requests.call(completion, .setState(.init(sealed, in: channel))) { [self] body in
            guard case .done = body else { return nil }
            // Only what the server has taken is worth being restored.
            if isSubscribed(channel) { cache.set(items, in: channel) }
            rosters.changeOwnStates(in: channel) { $0.merge(items) { $1 } }
            return ()
        }
    }

    /// The metas of topics are for the server to announce, and are not encrypted.
    private func seal(_ items: [String: String], in channel: ChannelID) throws(RTMError) -> [String: String] {
        guard channel.type != .topics, let encryption else { return items }
        return try sealed[channel, default: SealedStates()].seal(items, in: channel, with: encryption)
    }

    private func open(_ answer: Rtm_Client_UserState, in channel: ChannelID) -> [String: String] {
        let user = UserState(answer)
        guard channel.type != .topics else { return user.states }
        return (encryption?.open(user, in: channel) ?? user).states
    }

    /// The states wait until the channel is subscribed (P-41).
    private func hold(_ items: [String: String], in channel: ChannelID, _ completion: Completion<Void>) {
        do {
            try cache.hold(items, in: channel, subscribed: Set(subscribed.table.active))
            completion.succeed()
        } catch {
            completion.fail(error)
        }
    }

    func remove(_ keys: [String], in channel: ChannelID, _ completion: Completion<Void>) {
        guard requests.isReady(for: completion) else { return }
        guard isSubscribed(channel) else {
            cache.remove(keys, in: channel)
            return completion.succeed()
        }
        latestRequests[channel] = completion.id
        requests.call(completion, .removeState(.init(keys, in: channel))) { [self] body in
            guard case .done = body else { return nil }
            cache.remove(keys, in: channel)
            sealed[channel]?.remove(keys)
            rosters.changeOwnStates(in: channel) { shown in
                if keys.isEmpty { shown = [:] } else { for key in keys { shown[key] = nil } }
            }
            return ()
        }
    }

    /// The states of a user. Those of this user may still wait for the channel to be subscribed (P-41).
    func get(_ userID: String, in channel: ChannelID, _ completion: Completion<[String: String]>) {
        if userID == session.userID, !isSubscribed(channel),
            let waiting = cache.states(in: channel)
        {
            guard requests.isReady(for: completion) else { return }
            return completion.succeed(waiting)
        }
        requests.call(completion, .getState(.init(userID, in: channel))) { [self] body in
            guard case .userState(let answer) = body else { return nil }
            return open(answer, in: channel)
        }
    }

    private func isSubscribed(_ channel: ChannelID) -> Bool {
        subscribed.table.isActive(channel)
    }

    /// What the app has set there and the server has taken.
    func states(in channel: ChannelID) -> [String: String] { cache.states(in: channel) ?? [:] }

    func forget(_ channel: ChannelID) {
        cache.forget(channel)
        latestRequests[channel] = nil
        brought[channel] = nil
        sealed[channel] = nil
    }

    func forgetAll() {
        cache.removeAll()
        (latestRequests, brought, sealed) = ([:], [:], [:])
    }

    // MARK: Bringing along

    /// The states that a subscribe brings along, as they travel. Topics are announced by calls alone, and so
    /// are states that an operator has allowed to be too large for a frame.
    func bring(to channel: ChannelID) -> [String: String] {
        brought[channel] = nil
        guard channel.type == .message || channel.type == .stream, let states = cache.states(in: channel),
            let sealed = try? seal(states, in: channel),
            LoginOffer.byteCount(of: sealed) < LoginOffer.bytesMax
        else { return [:] }
        brought[channel] = states
        return sealed
    }

    // MARK: Restoring

    /// Sets the states that the server lacks, and removes those that only the server has (P-41, S-19).
    ///
    /// - Parameter shown: what others see of this user; `nil` if it isn't listed.
    func restore(in channel: ChannelID, shown: [String: String]?) {
        let missing = cache.missing(from: shown, in: channel)
        let forgotten = cache.forgotten(in: shown, in: channel)
        guard !missing.isEmpty || !forgotten.isEmpty else { return }
        // What is shown may be older than a change that is under way, and the cache is until its answer.
        if let request = latestRequests[channel], requests.isOpen(request) {
            return session.retry(.states(of: channel), after: Self.pause)
        }
        if !forgotten.isEmpty { removeAgain(forgotten, in: channel) }
        if !missing.isEmpty { setAgain(missing, in: channel) }
    }

    private func setAgain(_ items: [String: String], in channel: ChannelID) {
        do {
            let sealed = try seal(items, in: channel)
            restore(.setState, .setState(.init(sealed, in: channel)), in: channel) { $0.merge(items) { $1 } }
        } catch {
            restoringFailed(error, in: channel)
        }
    }

    private func removeAgain(_ keys: [String], in channel: ChannelID) {
        restore(.removeState, .removeState(.init(keys, in: channel)), in: channel) { shown in
            for key in keys { shown[key] = nil }
        }
    }

    private func restore(
        _ operation: Operation, _ body: ClientBody, in channel: ChannelID,
        _ change: @escaping (inout [String: String]) -> Void
    ) {
        requests.call(operation, body) { [self] result in
            switch result {
            case .success(.done): rosters.changeOwnStates(in: channel, change)
            case .success: break
            case .failure(let error): restoringFailed(error, in: channel)
            }
        }
    }

    /// Restores the states of a channel where no snapshot says what the server has.
    ///
    /// - Parameter hasSetBrought: whether the server has set what the subscribe has brought.
    func settle(in channel: ChannelID, hasSetBrought: Bool) {
        guard let states = cache.states(in: channel), !hasSetBrought || brought[channel] != states else {
            return
        }
        askAndRestore(in: channel)
    }

    func settleAgain(in channel: ChannelID) {
        if isSubscribed(channel) { askAndRestore(in: channel) }
    }

    private func askAndRestore(in channel: ChannelID) {
        let request = Rtm_Client_GetState(session.userID, in: channel)
        requests.call(.getState, .getState(request)) { [self] result in
            switch result {
            case .success(.userState(let answer)): restore(in: channel, shown: open(answer, in: channel))
            case .success: break
            case .failure(let error) where error.code == .presenceUserNotExist:
                // Quiet users are hidden from themselves, too.
                restore(in: channel, shown: nil)
            case .failure(let error): restoringFailed(error, in: channel)
            }
        }
    }

    private func restoringFailed(_ error: RTMError, in channel: ChannelID) {
        // Without a connection there is nothing to try: the next one begins with a snapshot.
        guard session.connection != nil else { return }
        guard error.mayPass else {
            session.logger.warning(
                "states could not be set", metadata: ["channel": "\(channel.name)", "cause": "\(error)"])
            return
        }
        session.retry(.states(of: channel), after: error.retryAfter ?? Self.pause)
    }
}

/// States as they were sealed. What is brought to a channel again is sealed as it was, so that the server
/// sees that nothing has changed, and others get no event of it (S-43).
private struct SealedStates {
    private var values: [String: (plain: String, sealed: String)] = [:]
    private var keyID: EncryptionKey.ID?

    mutating func seal(
        _ items: [String: String], in channel: ChannelID, with encryption: Encryption
    ) throws(RTMError) -> [String: String] {
        if keyID != encryption.keyID { (values, keyID) = ([:], encryption.keyID) }
        let new = items.filter { values[$0.key]?.plain != $0.value }
        for (key, sealed) in try encryption.seal(new, in: channel) {
            values[key] = (items[key] ?? "", sealed)
        }
        var all: [String: String] = [:]
        for key in items.keys { all[key] = values[key]?.sealed }
        return all
    }

    /// - Parameter keys: no key means all of them.
    mutating func remove(_ keys: [String]) {
        for key in keys { values[key] = nil }
        if keys.isEmpty { values = [:] }
    }
}
