import NIOCore
package import RTMModel
package import RTMWire

/// The logs of all channels of a node, and which links want their entries: the broker of an installation with
/// one messaging node. It is a value without I/O; the service around it decodes, asks and sends.
///
/// The edges know who is subscribed. The broker knows only interest: a link wants every entry of a log, under
/// a number that the link has chosen. With that number the entries find their way at the edge without a name
/// lookup.
package struct EmbeddedBroker {
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

    package struct Limits: Sendable {
        package var retention: ChannelLog.Retention
        /// How long a log without entries and without interest is remembered, so that a position in it can
        /// still be continued; in milliseconds.
        package var idleMax: UInt64
        package var channelsMax: Int

        package init(retention: ChannelLog.Retention, idleMax: UInt64, channelsMax: Int) {
            self.retention = retention
            self.idleMax = idleMax
            self.channelsMax = channelsMax
        }
    }

    /// Far beyond every clock. No messaging node gives a greater number than this, and the number after the
    /// greatest possible one would not be greater any more.
    private static let claimMax = UInt64.max >> 1

    let limits: Limits
    private let firstEpoch: UInt64
    private var nextEpoch: UInt64
    private var lastClaim: UInt64 = 0
    private var indexes: [ChannelKey: Int] = [:]
    var channels: [BrokerChannel] = []
    private var free: [Int] = []
    private var interestsOfLinks: [ServiceLinkID: [UInt64: Int]] = [:]
    private var sweepPlace = 0

    /// - Parameter firstEpoch: random for each start of the process, so that no position of an earlier
    ///   process is mistaken for one of this process.
    package init(limits: Limits, firstEpoch: UInt64) {
        self.limits = limits
        self.firstEpoch = firstEpoch
        nextEpoch = firstEpoch
    }

    /// Clients in JavaScript read numbers exactly only below 2^53. Half of them are left for the logs that
    /// begin later, which no process can use up.
    package static func randomFirstEpoch() -> UInt64 { .random(in: 1...(1 << 52)) }

    package var channelCount: Int { indexes.count }
}

// MARK: - Interest

extension EmbeddedBroker {
    package struct Attached {
        package let position: StreamPosition
        package let gap: Bool
        /// The entries that follow the caller's position. They are delivered before anything newer.
        package let missed: [ChannelLog.Entry]
        /// The number of an exclusive interest, otherwise 0.
        package let claim: UInt64
        /// The exclusive interest that lost its place to this one.
        package let superseded: Interest?
    }

    /// From now on every entry of the channel goes to this interest. An interest with a known number moves to
    /// this channel.
    ///
    /// - Parameters: `claim`, `holder`, `attempt` and `returns` have the meaning of the same fields in
    ///   `AttachRequest`.
    ///
    /// - Throws: `.loginAborted` (-10013) when a holder comes back after a newer one (S-10), or when an
    ///   attempt arrives behind a newer attempt of its holder.
    package mutating func attach(
        _ interest: Interest, to key: ChannelKey, after position: StreamPosition?, claim: UInt64? = nil,
        holder: UInt64 = 0, attempt: UInt64 = 0, returns: Bool = false, now: UInt64
    ) throws(RTMError) -> Attached {
        detach(interest, now: now)
        let index = try index(of: key, now: now)
        let superseded = try claim.flatMap { number throws(RTMError) in
            if number == 0 { try channels[index].admit(holder, attempt, returns: returns) }
            return try supersede(number, by: interest, holder, at: index, now: now)
        }
        interestsOfLinks[interest.link, default: [:]][interest.id] = index
        return withChannel(index) { channel in
            channel.interests.append(interest)
            let log = channel.log
            let missed = position.map { log.entries(after: $0).map(Array.init) } ?? []
            return Attached(
                position: log.position, gap: missed == nil, missed: missed ?? [],
                claim: claim == nil ? 0 : channel.claim?.number ?? 0, superseded: superseded)
        }
    }

    /// Gives the channel to a new holder (number 0) or back to a former one. Returns the interest that had
    /// it.
    private mutating func supersede(
        _ number: UInt64, by interest: Interest, _ holder: UInt64, at index: Int, now: UInt64
    ) throws(RTMError) -> Interest? {
        guard number <= Self.claimMax else {
            throw RTMError(.invalidParameter, "no messaging node has given the claim \(number)")
        }
        let present = channels[index].claim
        if number != 0, let present, number < present.number {
            throw RTMError(.loginAborted, "the user has logged in elsewhere")
        }
        // Numbers follow the clock, so the numbers of an earlier process are smaller.
        lastClaim = max(lastClaim + 1, number, now << 10)
        let superseded = present?.interest
        if let superseded { detach(superseded, now: now) }
        channels[index].claim = BrokerChannel.Claim(
            number: number == 0 ? lastClaim : number, interest: interest, holder: holder)
        return superseded
    }

    /// - Parameter isLoggedOut: the interest's holder is not coming back, so an earlier holder may (S-10).
    package mutating func detach(_ interest: Interest, isLoggedOut: Bool = false, now: UInt64) {
        guard let index = interestsOfLinks[interest.link]?.removeValue(forKey: interest.id) else { return }
        if isLoggedOut, channels[index].claim?.interest == interest { channels[index].claim?.holder = 0 }
        remove(interest, at: index, now: now)
    }

    package mutating func linkClosed(_ link: ServiceLinkID, now: UInt64) {
        guard let interests = interestsOfLinks.removeValue(forKey: link) else { return }
        for (id, index) in interests {
            remove(Interest(link: link, id: id), at: index, now: now)
        }
    }

    private mutating func remove(_ interest: Interest, at index: Int, now: UInt64) {
        withChannel(index) { channel in
            channel.interests.removeAll { $0 == interest }
            channel.leftAt = now
            if channel.claim?.interest == interest { channel.claim?.interest = nil }
        }
    }
}

// MARK: - Entries

extension EmbeddedBroker {
    package struct Appended {
        /// Has a count of 0 when the client sent a message again and the log already had it. Offset and
        /// timestamp are then those of the first time.
        package let entries: ChannelLog.Appended
        /// The interests that get the entries.
        package let interests: [Interest]
    }

    /// Appends all of the messages to their channel's log, or none. When the client sends a message again and
    /// the log already has it, the answer is the same as the first time, whether the receiver is still online
    /// or not.
    package mutating func publish(_ request: PublishRequest, now: UInt64) throws(RTMError) -> Appended {
        guard let type = request.channelType, type == .message || type == .user else {
            throw RTMError(.invalidChannelType, "messages are published to message and user channels")
        }
        let key = ChannelKey(appID: request.appID.string, type: type, name: request.channel.string)
        if let first = try published(request, key, now: now) { return first }
        if request.needsReceiver, !hasInterest(key) {
            throw RTMError(.channelReceiverOffline, "user \(key.name) is not online")
        }
        let index = try index(of: key, now: now)
        guard channels[index].log.admits(request.origin, count: request.messages.count) else {
            throw RTMError(
                .channelPublishMessageFailed,
                "the message is late: a newer message of its client is in the log already")
        }
        let entries = channels[index].log.append(
            request.messages, session: request.publisherSession, feature: .message, origin: request.origin,
            now: now
        ) { message, offset, timestamp, frames in
            let publication = Publication(
                channelType: type, channel: request.channel, offset: offset,
                timestampMilliseconds: timestamp, publisher: request.publisher, message: message)
            publication.encodeFrame(into: &frames)
        }
        channels[index].log.trim(to: limits.retention, now: now)
        return Appended(entries: entries, interests: channels[index].interests)
    }

    /// Whether a log of this process has, or had, this epoch.
    private func hasHad(epoch: UInt64) -> Bool { epoch &- firstEpoch < nextEpoch &- firstEpoch }

    /// The first result of a message that is sent again, or nil when it has no first result and is to be
    /// appended.
    private func published(
        _ request: PublishRequest, _ key: ChannelKey, now: UInt64
    ) throws(RTMError) -> Appended? {
        let origin = request.origin
        guard let age = origin.againAfter else { return nil }
        guard origin.instance != 0, origin.sequence != 0, request.messages.count == 1 else {
            throw RTMError(
                .invalidParameter,
                "a message that is sent again needs an instance and a sequence, and a request of its own"
            )
        }
        let memory = indexes[key].map { channels[$0].log.memory(of: origin, age: UInt64(age), now: now) }
        switch memory ?? .new {
        case .new:
            guard origin.epoch == 0 || hasHad(epoch: origin.epoch) else {
                throw RTMError(
                    .channelPublishMessageFailed,
                    "the logs were lost since the message was first sent: whether it was published is unknown"
                )
            }
            return nil
        case .unknown:
            throw RTMError(
                .channelPublishMessageFailed,
                "the channel's log doesn't reach back to the time when the message was first sent: whether it was "
                    + "published is unknown")
        case .published(let entry):
            // Instances are random and secret. A client that guesses another client's instance learns nothing
            // by it.
            guard entry.hasPublisher(request.publisher.string) else { return nil }
            let first = ChannelLog.Appended(
                offset: entry.offset, timestamp: entry.timestamp, count: 0,
                publisherSession: entry.publisherSession, feature: entry.feature, frames: ByteBuffer())
            return Appended(entries: first, interests: [])
        }
    }

    package struct Page {
        package let entries: [ChannelLog.Entry]
        /// The position of the last entry that was looked at.
        package let position: StreamPosition
        package let gap: Bool
        package let more: Bool
    }

    /// The entries after a position, up to `bytesMax` bytes of frames but at least one entry. Entries of
    /// `exceptPublisher` that its own session doesn't receive are left out.
    package mutating func read(_ request: ReadRequest, bytesMax: Int, now: UInt64) throws(RTMError) -> Page {
        let index = try index(of: request.channel, now: now)
        return withChannel(index) { channel in
            guard let entries = channel.log.entries(after: request.after) else {
                return Page(entries: [], position: channel.log.position, gap: true, more: false)
            }
            var page: [ChannelLog.Entry] = []
            var bytes = 0
            for entry in entries {
                guard request.features.contains(entry.feature), !entry.isFrom(request.exceptPublisher) else {
                    continue
                }
                bytes += entry.frame.readableBytes
                if bytes > bytesMax, let last = page.last {
                    let position = StreamPosition(epoch: channel.log.epoch, offset: last.offset)
                    return Page(entries: page, position: position, gap: false, more: true)
                }
                page.append(entry)
            }
            return Page(entries: page, position: channel.log.position, gap: false, more: false)
        }
    }

    /// Looks at the next `count` logs. It trims their tails by age and forgets the logs that nobody can miss.
    package mutating func sweep(_ count: Int, now: UInt64) {
        for _ in 0..<min(count, channels.count) {
            sweepPlace = (sweepPlace + 1) % channels.count
            guard channels[sweepPlace].key != nil else { continue }
            let retention = limits.retention
            let idleMax = limits.idleMax
            let forgotten: ChannelKey? = withChannel(sweepPlace) { channel in
                channel.log.trim(to: retention, now: now)
                let isIdle = max(channel.log.lastTimestamp, channel.leftAt) + idleMax < now
                return isIdle && channel.interests.isEmpty && channel.log.tailCount == 0 ? channel.key : nil
            }
            if let forgotten {
                indexes[forgotten] = nil
                channels[sweepPlace].key = nil
                free.append(sweepPlace)
            }
        }
    }
}

// MARK: - Channels

extension ChannelLog.Entry {
    /// Whether this publisher sent the entry and its own session doesn't receive it.
    fileprivate func isFrom(_ publisher: String) -> Bool {
        publisherSession != 0 && !publisher.isEmpty && hasPublisher(publisher)
    }

    /// Reads the publisher from the frame. Few readers ask for it, and otherwise every entry would have to
    /// keep the name.
    fileprivate func hasPublisher(_ publisher: String) -> Bool {
        frame.withUnsafeReadableBytes { bytes in
            Publication.publisher(inFrame: bytes)?.bytes.elementsEqual(publisher.utf8) ?? false
        }
    }
}

extension EmbeddedBroker {
    private func hasInterest(_ key: ChannelKey) -> Bool {
        guard let index = indexes[key] else { return false }
        return !channels[index].interests.isEmpty
    }

    mutating func index(of key: ChannelKey, now: UInt64) throws(RTMError) -> Int {
        if let index = indexes[key] { return index }
        guard indexes.count < limits.channelsMax else {
            throw RTMError(
                .channelInstanceExceedLimitation,
                "this node holds \(limits.channelsMax) channels, which is its limit",
                limit: .init(name: "channels per node", value: UInt64(limits.channelsMax)))
        }
        let channel = BrokerChannel(key: key, log: ChannelLog(epoch: nextEpoch, now: now))
        nextEpoch &+= 1
        let index: Int
        if let reused = free.popLast() {
            channels[reused] = channel
            index = reused
        } else {
            index = channels.count
            channels.append(channel)
        }
        indexes[key] = index
        return index
    }

    /// Works on a channel in place, without copying it.
    @discardableResult
    private mutating func withChannel<Result>(_ index: Int, _ body: (inout BrokerChannel) -> Result) -> Result
    {
        body(&channels[index])
    }
}
