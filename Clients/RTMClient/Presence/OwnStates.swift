// The temporary states of this user. What the app has set, `StateCache` remembers; this asks the server for
// it, and sets it again when the server has lost it (P-41, S-19).

import Logging
import RTMModel
import RTMProtocol

final class OwnStates {
    /// How long until the next attempt to set states, while presence can't be reached and doesn't say when.
    private static let pause = Duration.seconds(1)

    private unowned let link: Link
    private var cache: StateCache
    /// The newest request of the app that changes its states in a channel.
    private var latestRequests: [UserChannel: UInt64] = [:]

    init(_ link: Link) {
        self.link = link
        cache = StateCache(link.configuration.contentSize)
    }

    // MARK: Calls

    func set(_ items: [String: String], in channel: UserChannel, _ completion: Completion<Void>) {
        guard link.requests.isReady(for: completion) else { return }
        guard isSubscribed(channel) else { return hold(items, in: channel, completion) }
        let sealed: [String: String]
        do {
            sealed = try seal(items, in: channel)
        } catch {
            return completion.fail(error)
        }
        latestRequests[channel] = completion.id
        link.requests.call(completion, .setState(.init(sealed, in: channel))) { [self] body in
            guard case .done = body else { return nil }
            // Only what the server has taken is worth being restored.
            if isSubscribed(channel) { cache.set(items, in: channel) }
            link.rosters.changeOwnStates(in: channel) { $0.merge(items) { $1 } }
            return ()
        }
    }

    /// The metas of topics are for the server to announce, and are not encrypted.
    private func seal(_ items: [String: String], in channel: UserChannel) throws(RTMError) -> [String: String]
    {
        guard channel.type != .topics else { return items }
        return try link.encryption?.seal(items, in: channel) ?? items
    }

    private func open(_ answer: Rtm_Client_UserState, in channel: UserChannel) -> [String: String] {
        let user = UserState(answer)
        guard channel.type != .topics else { return user.states }
        return (link.encryption?.open(user, in: channel) ?? user).states
    }

    /// The states wait until the channel is subscribed (P-41).
    private func hold(_ items: [String: String], in channel: UserChannel, _ completion: Completion<Void>) {
        do {
            try cache.hold(items, in: channel, subscribed: Set(link.subscriptions.table.active))
            completion.succeed()
        } catch {
            completion.fail(error)
        }
    }

    func remove(_ keys: [String], in channel: UserChannel, _ completion: Completion<Void>) {
        guard link.requests.isReady(for: completion) else { return }
        guard isSubscribed(channel) else {
            cache.remove(keys, in: channel)
            return completion.succeed()
        }
        latestRequests[channel] = completion.id
        link.requests.call(completion, .removeState(.init(keys, in: channel))) { [self] body in
            guard case .done = body else { return nil }
            cache.remove(keys, in: channel)
            link.rosters.changeOwnStates(in: channel) { shown in
                if keys.isEmpty { shown = [:] } else { for key in keys { shown[key] = nil } }
            }
            return ()
        }
    }

    /// The states of a user. Those of this user may still wait for the channel to be subscribed (P-41).
    func get(_ userID: String, in channel: UserChannel, _ completion: Completion<[String: String]>) {
        if userID == link.configuration.userID, !isSubscribed(channel),
            let waiting = cache.states(in: channel)
        {
            guard link.requests.isReady(for: completion) else { return }
            return completion.succeed(waiting)
        }
        link.requests.call(completion, .getState(.init(userID, in: channel))) { [self] body in
            guard case .userState(let answer) = body else { return nil }
            return open(answer, in: channel)
        }
    }

    private func isSubscribed(_ channel: UserChannel) -> Bool {
        link.subscriptions.table.isActive(channel.label)
    }

    /// What the app has set there and the server has taken.
    func states(in channel: UserChannel) -> [String: String] { cache.states(in: channel) ?? [:] }

    /// - Parameter channel: here and below, the label of the channel.
    func forget(_ channel: String) {
        let channel = UserChannel(label: channel)
        cache.forget(channel)
        latestRequests[channel] = nil
    }

    func forgetAll() {
        cache.removeAll()
        latestRequests = [:]
    }

    // MARK: Restoring

    /// Sets the states that the server lacks, and removes those that only the server has (P-41, S-19).
    ///
    /// - Parameter shown: what others see of this user; `nil` if it isn't listed.
    func restore(in channel: String, shown: [String: String]?) {
        restore(in: UserChannel(label: channel), shown: shown)
    }

    private func restore(in channel: UserChannel, shown: [String: String]?) {
        let missing = cache.missing(from: shown, in: channel)
        let forgotten = cache.forgotten(in: shown, in: channel)
        guard !missing.isEmpty || !forgotten.isEmpty else { return }
        // What is shown may be older than a change that is under way, and the cache is until its answer.
        if let request = latestRequests[channel], link.requests.isOpen(request) {
            return link.retry(.states(of: channel), after: Self.pause)
        }
        if !forgotten.isEmpty { removeAgain(forgotten, in: channel) }
        if !missing.isEmpty { setAgain(missing, in: channel) }
    }

    private func setAgain(_ items: [String: String], in channel: UserChannel) {
        do {
            let sealed = try seal(items, in: channel)
            restore(.setState, .setState(.init(sealed, in: channel)), in: channel) { $0.merge(items) { $1 } }
        } catch {
            restoringFailed(error, in: channel)
        }
    }

    private func removeAgain(_ keys: [String], in channel: UserChannel) {
        restore(.removeState, .removeState(.init(keys, in: channel)), in: channel) { shown in
            for key in keys { shown[key] = nil }
        }
    }

    private func restore(
        _ operation: Operation, _ body: ClientBody, in channel: UserChannel,
        _ change: @escaping (inout [String: String]) -> Void
    ) {
        link.requests.call(operation, body) { [self] result in
            switch result {
            case .success(.done): link.rosters.changeOwnStates(in: channel, change)
            case .success: break
            case .failure(let error): restoringFailed(error, in: channel)
            }
        }
    }

    /// Restores the states of a channel where no snapshot says what the server has.
    func settle(in channel: String) {
        let channel = UserChannel(label: channel)
        if cache.states(in: channel) != nil { askAndRestore(in: channel) }
    }

    func settleAgain(in channel: UserChannel) {
        if isSubscribed(channel) { askAndRestore(in: channel) }
    }

    private func askAndRestore(in channel: UserChannel) {
        let request = Rtm_Client_GetState(link.configuration.userID, in: channel)
        link.requests.call(.getState, .getState(request)) { [self] result in
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

    private func restoringFailed(_ error: RTMError, in channel: UserChannel) {
        // Without a connection there is nothing to try: the next one begins with a snapshot.
        guard link.connection != nil else { return }
        guard error.isRetryable else {
            link.logger.warning(
                "states could not be set", metadata: ["channel": "\(channel.name)", "cause": "\(error)"])
            return
        }
        link.retry(.states(of: channel), after: error.retryAfter ?? Self.pause)
    }
}
