package import RTMModel
package import RTMWire

/// The rosters in the memory of this process, which is then the only presence node. After a restart the edges
/// fill them again.
package final class InMemoryPresenceStore: PresenceStore {
    package var observer: (any PresenceStoreObserver)?
    private var registry: RosterRegistry
    private let clock: () -> UInt64
    /// A random number for each start, so that messaging never takes an append of this process for one of an
    /// earlier process.
    private let source: UInt64
    /// The number of the last event of any channel. A channel that was empty and comes back continues above
    /// its earlier numbers.
    private var lastSequence: UInt64 = 0

    /// - Parameter clock: the time in milliseconds; it never goes back.
    package init(_ rules: PresenceRules, source: UInt64, clock: @escaping () -> UInt64) {
        registry = RosterRegistry(rules, now: clock())
        self.source = source
        self.clock = clock
    }

    package var totals: PresenceTotals { registry.totals }

    /// Hands the events that the registry has collected to the observer.
    private func report() {
        for (channel, events) in registry.takeChanges() {
            let numbered = events.map { event in
                lastSequence += 1
                return (sequence: lastSequence, event: event)
            }
            let isEmpty = registry[channel] == nil
            if !isEmpty { registry.numbered(channel, through: lastSequence) }
            observer?.rosterChanged(
                channel, NumberedEvents(source: source, events: numbered, isEmpty: isEmpty))
        }
    }

    private func perform<Value>(
        over link: EdgeLink = .unknown, _ done: Completion<Value>,
        _ body: (inout RosterRegistry, UInt64) throws(RTMError) -> Value
    ) {
        guard registry.isNewest(link) else {
            observer?.isOlder(link)
            return done(.failure(.olderLink))
        }
        let outcome = Result { () throws(RTMError) in try body(&registry, clock()) }
        report()
        done(outcome)
    }
}

extension InMemoryPresenceStore {
    package func enter(
        _ entry: Entry, _ channel: ChannelKey, over link: EdgeLink, _ done: @escaping Completion<Entered>
    ) {
        let entered: Completion<RosterRegistry.Arrival> = { [self] outcome in
            done(
                outcome.map { arrival in
                    Entered(
                        through: registry[channel]?.lastNumber ?? 0, isMember: arrival.isMember,
                        statesCost: arrival.statesCost)
                })
        }
        perform(over: link, entered) { registry, now throws(RTMError) in
            try registry.enter(entry, channel, now: now)
        }
    }

    package func adopt(
        _ entry: Entry, _ channel: ChannelKey, isAnnounced: Bool, over link: EdgeLink,
        _ done: @escaping Completion<Bool>
    ) {
        perform(over: link, done) { registry, now throws(RTMError) in
            try registry.adopt(entry, channel, isAnnounced: isAnnounced, now: now)
        }
    }

    package func leave(
        _ caller: Caller, _ channel: ChannelKey, over link: EdgeLink, _ done: @escaping Completion<Void>
    ) {
        perform(over: link, done) { $0.leave(caller, channel, now: $1) }
    }

    package func end(_ caller: Caller, _ end: SessionEnd, _ done: @escaping Completion<Void>) {
        perform(done) { $0.end(caller, end, now: $1) }
    }

    package func setStates(
        _ caller: Caller, _ channel: ChannelKey, _ items: [StateItem], over link: EdgeLink,
        _ done: @escaping Completion<Int?>
    ) {
        perform(over: link, done) { registry, now throws(RTMError) in
            try registry.setStates(caller, channel, items, now: now)
        }
    }

    package func removeStates(
        _ caller: Caller, _ channel: ChannelKey, _ keys: [String], over link: EdgeLink,
        _ done: @escaping Completion<Int?>
    ) {
        perform(over: link, done) { $0.removeStates(caller, channel, keys, now: $1) }
    }

    package func states(
        of user: String, askedBy asker: String, _ channel: ChannelKey,
        _ done: @escaping Completion<[StateItem]?>
    ) {
        done(.success(registry[channel]?.states(of: user, askedBy: asker)))
    }

    package func users(
        _ channel: ChannelKey, after user: String?, countMax: Int, _ done: @escaping Completion<[UserState]>
    ) {
        done(.success(registry[channel]?.users(after: user, countMax: countMax) ?? []))
    }

    package func onlineCount(_ channel: ChannelKey, _ done: @escaping Completion<Int>) {
        done(.success(registry[channel]?.onlineCount ?? 0))
    }

    package func channels(of user: UserKey, _ done: @escaping Completion<[ChannelKey]>) {
        done(.success(registry.channels(of: user)))
    }

    package func snapshot(
        _ channel: ChannelKey, onlineMax: Int, _ done: @escaping Completion<RosterSnapshot?>
    ) {
        guard (registry[channel]?.onlineCount ?? 0) <= onlineMax else { return done(.success(nil)) }
        let users = registry.show(channel)
        done(.success(RosterSnapshot(users: users, through: registry[channel]?.lastNumber ?? 0)))
    }

    package func renew(_ link: EdgeLink, _ done: @escaping Completion<Bool>) {
        perform(over: link, done) { $0.renew(link, now: $1) }
    }

    package func synced(
        _ link: EdgeLink, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>
    ) {
        perform(over: link, done) { $0.synced(link.lease, except: kept, now: $1) }
    }

    /// Does nothing: this store keeps no events once it has reported them.
    package func acknowledge(
        _ channel: ChannelKey, of source: UInt64, through: UInt64, at position: StreamPosition
    ) {}

    package func sweep(_ done: @escaping Completion<Void>) {
        let ended = registry.advance(now: clock())
        report()
        if ended > 0 { observer?.leasesExpired(ended) }
        done(.success(()))
    }
}
