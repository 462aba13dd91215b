// The temporary states of this user. `StateCache` remembers what the app has set; this class sends it to the
// server, and again when the server has lost it (P-41, S-19).

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
        guard channel.type != .topics else { return items }
        return try encryption?.seal(items, in: channel) ?? items
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
    }

    func forgetAll() {
        cache.removeAll()
        latestRequests = [:]
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
    func settle(in channel: ChannelID) {
        if cache.states(in: channel) != nil { askAndRestore(in: channel) }
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
