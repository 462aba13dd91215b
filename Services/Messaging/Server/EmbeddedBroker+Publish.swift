import NIOCore
package import RTMModel
package import RTMWire

/// Messages become log entries, each of them once.
extension EmbeddedBroker {
    package struct Appended {
        /// Has a count of 0 when the client sent a message again and the log already had it. Offset and
        /// timestamp are then those of the first time.
        package let entries: AppendedEntries
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
        channels.makeRoom()
        let channel = ChannelView(appID: request.appID, type: type, name: request.channel)
        let origin = names.origin(request)
        if let first = try published(request, origin, channel, now: now) { return first }
        if request.needsReceiver, !hasInterest(channel) {
            throw RTMError(.channelReceiverOffline, "user \(channel.name.string) is not online")
        }
        let index = try channels.occupy(channel, by: .publisher(request.publisherSession), now: now)
        let oldest = channels.oldestTime(at: index) ?? now
        guard
            channels[index].chain.admits(origin, count: request.messages.count, oldest: oldest, now: now)
        else {
            throw RTMError(
                .channelPublishMessageFailed,
                "the message is late: a newer message of its client is in the log already")
        }
        let entries = NewEntries(
            count: request.messages.count, channel: index, session: request.publisherSession,
            feature: .message, origin: origin, now: now)
        var messages = request.messages.makeIterator()
        let appended = channels.append(entries) { offset, timestamp, frames in
            guard let message = messages.next() else { return }
            let publication = Publication(
                channelType: type, channel: request.channel, offset: offset,
                timestampMilliseconds: timestamp, publisher: request.publisher, message: message)
            publication.encodeFrame(into: &frames)
        }
        return Appended(entries: appended, interests: channels[index].interests)
    }

    /// The frames of what was appended, one behind the other; until the next request appends.
    package func withFrames<Result>(
        of appended: Appended, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try channels.withFrames(of: appended.entries, body)
    }

    private func hasInterest(_ channel: ChannelView) -> Bool {
        guard let index = channels.place(of: channel) else { return false }
        return !channels[index].interests.isEmpty
    }

    /// The first result of a message that is sent again, or nil when it has no first result and is to be
    /// appended.
    private func published(
        _ request: PublishRequest, _ origin: EntryOrigin, _ channel: ChannelView, now: UInt64
    ) throws(RTMError) -> Appended? {
        guard let age = request.origin.againAfter else { return nil }
        guard origin.client != 0, request.messages.count == 1 else {
            throw RTMError(
                .invalidParameter,
                "a message that is sent again needs an instance and a sequence, and a request of its own"
            )
        }
        switch memory(of: origin, in: channel, age: UInt64(age), now: now) {
        case .new:
            let epoch = request.origin.epoch
            guard epoch == 0 || channels.has(epoch: epoch) else {
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
            // Two clients may have the same number in the log, however seldom.
            guard entry.hasPublisher(request.publisher.string) else { return nil }
            let first = AppendedEntries(
                offset: entry.offset, offsetsBetween: 0, timestamp: entry.timestamp, count: 0,
                publisherSession: entry.publisherSession, feature: entry.feature, place: .none, frames: 0..<0)
            return Appended(entries: first, interests: [])
        }
    }

    private func memory(
        of origin: EntryOrigin, in channel: ChannelView, age: UInt64, now: UInt64
    ) -> ChannelChain.Memory {
        if let place = channels.place(of: channel) {
            return channels[place].chain.memory(
                of: origin, age: age, in: channels.tail(of: place), now: now)
        }
        guard let forgotten = channels.newestForgotten(of: channel) else { return .new }
        return ChannelChain.mayBe(from: age, before: forgotten, now: now) ? .unknown : .new
    }
}
