package import RTMModel
import RTMServiceKit
import RTMWire

/// The logs of all channels of a shard, and which links want their entries. It is a value without I/O;
/// `MessagingShard` decodes requests, asks the broker and sends its answers.
///
/// The edges know who is subscribed. The broker knows only interest: a link wants every entry of a log, under
/// a number that the link has chosen. With that number the entries find their way at the edge without a name
/// lookup.
package struct Broker {
    /// A link of this process, as the service numbers it.
    package typealias ServiceLinkID = Int

    package struct Interest: Hashable {
        package let link: ServiceLinkID
        package let id: UInt64

        package init(link: ServiceLinkID, id: UInt64) {
            self.link = link
            self.id = id
        }
    }

    /// Far beyond every clock. No messaging node gives a greater number than this, and the number after the
    /// greatest possible one would not be greater any more.
    private static let ownershipMax = UInt64.max >> 1

    let limits: BrokerLimits
    var lastOwnership: UInt64 = 0
    var channels: LogTable
    let names: NameHash
    private var interestsOfLinks: [ServiceLinkID: [UInt64: ChannelSlot]] = [:]
    var recorder = JournalRecorder()
    /// The logs have nothing from before this time, in milliseconds; nil if they began here.
    let begin: UInt64?
    /// The logs are at least as old as this, in milliseconds: nothing that was published later can be in logs
    /// that were before them.
    let knownSince: UInt64
    /// Until then, who was online at the node before counts as online, in milliseconds.
    var settlesAt: UInt64 = 0

    /// - Parameters:
    ///   - firstEpoch: random for each start of the process, so that no position of an earlier process is
    ///     mistaken for one of this process.
    ///   - secret: random for each start of the process, and nobody else learns it.
    ///   - now: when the logs begin.
    package init(limits: BrokerLimits, firstEpoch: UInt64, secret: UInt64 = 0, now: UInt64 = 0) {
        self.limits = limits
        names = NameHash(secret: secret)
        channels = LogTable(limits: limits, firstEpoch: firstEpoch, names: names)
        begin = nil
        knownSince = now
        channels.timesBegin = Self.timesBegin(now)
    }

    /// Continues the logs of another broker.
    ///
    /// - Parameter now: when the logs begin, if the journal is empty.
    package init(continuing replay: JournalReplay, now: UInt64) {
        limits = replay.limits
        names = replay.names
        channels = replay.channels
        lastOwnership = replay.lastOwnership
        begin = replay.begin
        knownSince = replay.begin ?? now
        channels.timesBegin = Self.timesBegin(now)
        channels.apps.beginTerm()
    }

    /// What the tails have now may be older than what another leader had meanwhile.
    package mutating func reinstate() { channels.apps.beginTerm() }

    /// Times run ahead of the clock by so much, so none of a node before is later (M-24). 0 if there was
    /// none.
    private static func timesBegin(_ now: UInt64) -> UInt64 { now == 0 ? 0 : now + LogTime.aheadMax }

    /// Clients in JavaScript read numbers exactly only below 2^53. The partitions have this number and the
    /// ones that follow it.
    package static func randomFirstEpoch() -> UInt64 { .random(in: 1...(1 << 51)) }

    package var channelCount: Int { channels.count }
    /// Without inboxes.
    package var openChannelCount: Int { channels.openCount }
    /// Forgotten logs that are remembered by their numbers.
    package var forgottenCount: Int { channels.apps.forgottenCount }
    /// The memory that the tails of all apps take, in bytes.
    package var tailBytes: Int { channels.apps.bytes }
    /// The memory of all channels with their tails, roughly.
    package var bytesHeld: Int { tailBytes + channelCount * MemoryLayout<BrokerChannel>.stride }
    /// How many milliseconds back every tail reaches at least.
    package func tailWindow(now: UInt64) -> UInt64 { channels.apps.window(now: now) }

    /// Gives up entries that are too old, looks at the next `count` channels, and forgets those that nobody
    /// can miss.
    package mutating func sweep(_ count: Int, now: UInt64) {
        let isSettled = now >= settlesAt
        guard recorder.isKept else {
            return channels.sweep(count, now: now, isSettled: isSettled) { _, _ in }
        }
        var recorder = JournalRecorder()
        swap(&recorder, &self.recorder)
        channels.sweep(count, now: now, isSettled: isSettled) { recorder.note($0, $1) }
        self.recorder = recorder
    }
}

// MARK: - Interest

extension Broker {
    package struct Attached {
        package let position: StreamPosition
        /// Set if entries after the caller's position, or the log they were in, are gone: what is missed
        /// begins after this position.
        package let skippedTo: StreamPosition?
        /// Whether the log ends before the caller's position, because it is an earlier state of the log.
        package let wentBack: Bool
        /// The features that select what is gone.
        package let lost: SubscriptionFeatures
        /// The entries that follow the caller's position. They are delivered before anything newer.
        package let missed: [LogEntry]
        /// The number of an exclusive interest, otherwise 0.
        package let ownership: UInt64
        /// The exclusive interest that lost its place to this one.
        package let superseded: Interest?
    }

    /// From now on every entry of the channel goes to this interest. An interest with a known number moves to
    /// this channel.
    ///
    /// - Parameters: `ownership`, `owner`, `attempt` and `returns` have the meaning of the same fields in
    ///   `AttachRequest`.
    ///
    /// - Throws: `.loginAborted` (-10013) when an owner comes back after a newer one (S-10), or when an
    ///   attempt arrives behind a newer attempt of its owner.
    package mutating func attach(
        _ interest: Interest, to key: ChannelKey, after position: StreamPosition?, ownership: UInt64? = nil,
        owner: UInt64 = 0, attempt: UInt64 = 0, returns: Bool = false, now: UInt64
    ) throws(RTMError) -> Attached {
        detach(interest, now: now)
        let isInbox = ownership != nil && key.type == .user
        let slot = try channels.occupy(key, by: isInbox ? .owner : .anybody, now: now)
        let superseded = try ownership.flatMap { number throws(RTMError) in
            if number == 0 { try channels[slot].admit(owner, attempt, returns: returns) }
            return try supersede(number, by: interest, owner, at: slot, now: now)
        }
        interestsOfLinks[interest.link, default: [:]][interest.id] = slot
        channels[slot].interests.append(interest)
        if ownership != nil { noteOwnership(at: slot) }
        let continuation = position.map { self.continuation(at: slot, after: $0) }
        let tail = channels.tail(of: slot)
        return Attached(
            position: channels.position(of: slot), skippedTo: continuation?.skippedTo,
            wentBack: continuation?.wentBack ?? false, lost: continuation?.lost ?? [],
            missed: continuation?.entries.map { tail.entry(at: $0) } ?? [],
            ownership: ownership == nil ? 0 : channels[slot].ownership?.number ?? 0, superseded: superseded)
    }

    func continuation(
        at slot: ChannelSlot, after position: StreamPosition, features: SubscriptionFeatures = .all,
        except user: UInt32 = 0
    ) -> Continuation {
        let scope = ReadScope(
            features: features, user: user, countMax: limits.catchUpEntriesMax,
            bytesMax: limits.catchUpBytesMax)
        return channels[slot].chain.continuation(
            after: position, scope, in: channels.tail(of: slot),
            partitionHead: channels.partitionHead(of: slot))
    }

    /// Gives the channel to a new owner (number 0) or back to a former one. Returns the interest that had
    /// it.
    private mutating func supersede(
        _ number: UInt64, by interest: Interest, _ owner: UInt64, at slot: ChannelSlot, now: UInt64
    ) throws(RTMError) -> Interest? {
        guard number <= Self.ownershipMax else {
            throw RTMError(.invalidParameter, "no messaging node has issued the ownership \(number)")
        }
        let present = channels[slot].ownership
        if number != 0, let present, number < present.number {
            throw RTMError(.loginAborted, "the user has logged in elsewhere")
        }
        // Numbers follow the clock, so the numbers of an earlier process are smaller.
        lastOwnership = max(lastOwnership + 1, number, now << 10)
        let superseded = present?.interest
        if let superseded { detach(superseded, now: now) }
        channels[slot].ownership = BrokerChannel.Ownership(
            number: number == 0 ? lastOwnership : number, owner: owner, interest: interest)
        return superseded
    }

    /// - Parameter isLoggedOut: the interest's owner is not coming back, so an earlier owner may (S-10).
    package mutating func detach(_ interest: Interest, isLoggedOut: Bool = false, now: UInt64) {
        guard let slot = interestsOfLinks[interest.link]?.removeValue(forKey: interest.id) else { return }
        if isLoggedOut, channels[slot].ownership?.interest == interest { channels[slot].ownership?.owner = 0 }
        remove(interest, at: slot, now: now)
    }

    package mutating func linkClosed(_ link: ServiceLinkID, now: UInt64) {
        guard let interests = interestsOfLinks.removeValue(forKey: link) else { return }
        for (id, slot) in interests {
            remove(Interest(link: link, id: id), at: slot, now: now)
        }
    }

    private mutating func remove(_ interest: Interest, at slot: ChannelSlot, now: UInt64) {
        channels[slot].interests.removeAll { $0 == interest }
        channels[slot].leftAt = now
        guard channels[slot].ownership?.interest == interest else { return }
        channels[slot].ownership?.interest = nil
        noteOwnership(at: slot)
    }
}
