import NIOCore
package import RTMModel
package import RTMWire

/// The logs of all channels of a node, and which links want their entries: the broker of an installation with
/// one messaging node. A value without I/O; the service around it decodes, asks and sends.
///
/// Who is subscribed is the edges' knowledge. The broker knows interest: a link that wants every entry of a
/// log, under a number of its own choice, which is how the entries find their way there without a name
/// lookup.
package struct EmbeddedBroker {
    /// A link of this process, numbered by the service.
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
        /// How long a log without entries and without interest is remembered, in milliseconds, so that a
        /// position in it can still be continued.
        package var idleMax: UInt64
        package var channelsMax: Int

        package init(retention: ChannelLog.Retention, idleMax: UInt64, channelsMax: Int) {
            self.retention = retention
            self.idleMax = idleMax
            self.channelsMax = channelsMax
        }
    }

    struct Channel {
        /// Nil while the place is free.
        var key: ChannelKey?
        var log: ChannelLog
        var interests: [Interest] = []
        /// When the last interest left. Whoever was behind it may come back.
        var leftAt: UInt64 = 0
        var claim: Claim?
        /// By holder: its attempts.
        var logins = HighWaterMarks()
        var sources = AppendSources()
    }

    /// Who has a channel for himself, or had it last: of two the one with the greater number, in whatever
    /// order they come back.
    struct Claim {
        var number: UInt64
        /// Nil while the holder's link is away.
        var interest: Interest?
        /// Who it is; 0 = unknown.
        var holder: UInt64
    }

    /// Far beyond every clock. A greater number than this is none of ours, and what follows the greatest
    /// number of all would be none.
    private static let claimMax = UInt64.max >> 1

    let limits: Limits
    private let firstEpoch: UInt64
    private var nextEpoch: UInt64
    private var lastClaim: UInt64 = 0
    private var indexes: [ChannelKey: Int] = [:]
    var channels: [Channel] = []
    private var free: [Int] = []
    private var interestsOfLinks: [ServiceLinkID: [UInt64: Int]] = [:]
    private var sweepPlace = 0

    /// - Parameter firstEpoch: random for each start of the process, so that no position of an earlier one is
    ///   taken for a position of ours.
    package init(limits: Limits, firstEpoch: UInt64) {
        self.limits = limits
        self.firstEpoch = firstEpoch
        nextEpoch = firstEpoch
    }

    package var channelCount: Int { indexes.count }
}

// MARK: - Interest

extension EmbeddedBroker {
    package struct Attached {
        package let position: StreamPosition
        package let gap: Bool
        /// What follows the caller's position, to be delivered before anything newer.
        package let missed: [ChannelLog.Entry]
        /// The number of an exclusive interest, else 0.
        package let claim: UInt64
        /// An exclusive interest that has lost its place to this one.
        package let superseded: Interest?
    }

    /// From now on every entry of the channel goes to this interest. The same number again moves it to this
    /// channel.
    ///
    /// - Parameters: `claim`, `holder`, `attempt` and `returns` as in `AttachRequest`. A holder who comes
    ///   back after a newer one is refused (S-10), and so is an attempt that is late behind a newer one of
    ///   its holder.
    package mutating func attach(
        _ interest: Interest, to key: ChannelKey, after position: StreamPosition?, claim: UInt64? = nil,
        holder: UInt64 = 0, attempt: UInt64 = 0, returns: Bool = false, now: UInt64
    ) throws(RTMError) -> Attached {
        detach(interest, now: now)
        let index = try index(of: key, now: now)
        let superseded = try claim.flatMap { number throws(RTMError) in
            if number == 0 { try admit(holder, attempt, returns: returns, at: index) }
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

    /// Whether a holder may have the channel anew.
    private mutating func admit(
        _ holder: UInt64, _ attempt: UInt64, returns: Bool, at index: Int
    ) throws(RTMError) {
        guard attempt == 0 || channels[index].logins.admits(holder, attempt) else {
            throw RTMError(.loginAborted, "the same client has logged in again meanwhile")
        }
        guard !returns || !isHeld(at: index, byOtherThan: holder) else {
            throw RTMError(.loginAborted, "the user has logged in elsewhere meanwhile")
        }
    }

    /// Gives the channel to a new holder (number 0) or back to a former one. Returns who had it.
    private mutating func supersede(
        _ number: UInt64, by interest: Interest, _ holder: UInt64, at index: Int, now: UInt64
    ) throws(RTMError) -> Interest? {
        guard number <= Self.claimMax else {
            throw RTMError(.invalidParameter, "the claim \(number) was given by no messaging node")
        }
        let present = channels[index].claim
        if number != 0, let present, number < present.number {
            throw RTMError(.loginAborted, "the user has logged in elsewhere")
        }
        // Numbers follow the clock, so that those of an earlier process are smaller.
        lastClaim = max(lastClaim + 1, number, now << 10)
        let superseded = present?.interest
        if let superseded { detach(superseded, now: now) }
        channels[index].claim = Claim(
            number: number == 0 ? lastClaim : number, interest: interest, holder: holder)
        return superseded
    }

    /// Somebody else has had the channel last. That holds while its holder is away, and after it has left.
    private func isHeld(at index: Int, byOtherThan holder: UInt64) -> Bool {
        guard holder != 0, let last = channels[index].claim?.holder else { return false }
        return last != 0 && last != holder
    }

    package mutating func detach(_ interest: Interest, now: UInt64) {
        guard let index = interestsOfLinks[interest.link]?.removeValue(forKey: interest.id) else { return }
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
        /// None, when a message that is sent once more was appended before: then offset and timestamp are
        /// those of then.
        package let entries: ChannelLog.Appended
        /// Who is to get them.
        package let interests: [Interest]
    }

    /// Appends messages to their channel's log: all of them, or none. What the client sends once more and
    /// the log has already is answered as the first time, whether its receiver is still there or not.
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
                "the message comes late: what its client published after it is in the log already")
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

    /// The first result of a message that is sent once more; nil when there is none and it is to be appended.
    private func published(
        _ request: PublishRequest, _ key: ChannelKey, now: UInt64
    ) throws(RTMError) -> Appended? {
        let origin = request.origin
        guard let age = origin.againAfter else { return nil }
        guard origin.instance != 0, origin.sequence != 0, request.messages.count == 1 else {
            throw RTMError(
                .invalidParameter, "a message that is sent again has an instance and a sequence, and no other"
            )
        }
        let memory = indexes[key].map { channels[$0].log.memory(of: origin, age: UInt64(age), now: now) }
        switch memory ?? .new {
        case .new:
            guard origin.epoch == 0 || hasHad(epoch: origin.epoch) else {
                throw RTMError(
                    .channelPublishMessageFailed,
                    "the logs were lost since the message was sent first: whether it was published is unknown"
                )
            }
            return nil
        case .unknown:
            throw RTMError(
                .channelPublishMessageFailed,
                "the channel's log doesn't reach back to when the message was sent first: whether it was "
                    + "published is unknown")
        case .published(let entry):
            // Instances are random and secret. Whoever guesses another client's learns nothing by it.
            guard entry.hasPublisher(request.publisher.string) else { return nil }
            let first = ChannelLog.Appended(
                offset: entry.offset, timestamp: entry.timestamp, count: 0,
                publisherSession: entry.publisherSession, feature: entry.feature, frames: ByteBuffer())
            return Appended(entries: first, interests: [])
        }
    }

    package struct Page {
        package let entries: [ChannelLog.Entry]
        /// Of the last entry considered.
        package let position: StreamPosition
        package let gap: Bool
        package let more: Bool
    }

    /// The entries after a position, without those of one publisher that his own session doesn't receive, up
    /// to `bytesMax` bytes of frames but at least one.
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

    /// Looks at the next `count` logs: trims their tails by age, forgets those that nobody can miss.
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
    /// And not for him.
    fileprivate func isFrom(_ publisher: String) -> Bool {
        publisherSession != 0 && !publisher.isEmpty && hasPublisher(publisher)
    }

    /// The publisher is read from the frame: few ask, and every entry would have to keep its name.
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
        let channel = Channel(key: key, log: ChannelLog(epoch: nextEpoch, now: now))
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

    /// Works on a channel in place.
    @discardableResult
    private mutating func withChannel<Result>(_ index: Int, _ body: (inout Channel) -> Result) -> Result {
        body(&channels[index])
    }
}
