import RTMModel
import RTMWire

/// A message that its client sends again, because it doesn't know what has become of it.
struct RepeatedPublish {
    private let request: PublishRequest
    private let origin: EntryOrigin
    private let channel: ChannelView
    private let now: UInt64
    /// How long ago the client sent it first, in milliseconds.
    private let age: UInt64

    /// Nil if the message is sent for the first time.
    @inline(__always)
    init?(_ request: PublishRequest, _ origin: EntryOrigin, to channel: ChannelView, now: UInt64) {
        guard let age = request.origin.againAfter else { return nil }
        self.request = request
        self.origin = origin
        self.channel = channel
        self.now = now
        self.age = UInt64(age)
    }

    /// What became of it, or nil when it has not been published and is to be appended.
    ///
    /// - Parameter time: when these logs were there at the latest.
    func first(in channels: LogTable, knownSince time: UInt64) throws(RTMError) -> AppendedEntries? {
        guard origin.client != 0, request.messages.count == 1 else {
            throw RTMError(
                .invalidParameter,
                "a message that is sent again must have an instance and a sequence, and be alone in its request"
            )
        }
        switch memory(in: channels) {
        case .new:
            guard !mayBeInEarlierLogs(channels, knownSince: time) else {
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
            return AppendedEntries(
                offset: entry.offset, offsetsBetween: 0, time: entry.time, count: 0,
                publisherSession: entry.publisherSession, feature: entry.feature, place: .none, frames: 0..<0)
        }
    }

    /// Whether the message may have been appended to logs that these have replaced. It can't if its client
    /// knew these logs, or logs of other shards that began together with them, when it sent the message
    /// first. The epoch that it names is that of its inbox, which may lie in a shard that has begun at
    /// another time than this one. Then the time decides: a message that was sent first when these logs were
    /// there is in no others.
    private func mayBeInEarlierLogs(_ channels: LogTable, knownSince time: UInt64) -> Bool {
        let epoch = request.origin.epoch
        return epoch != 0 && !channels.has(epoch: epoch)
            && ChannelChain.mayBe(from: age, before: time, now: now)
    }

    private func memory(in channels: LogTable) -> ChannelChain.Memory {
        if let slot = channels.slot(of: channel) {
            return channels[slot].chain.memory(
                of: origin, age: age, in: channels.tail(of: slot), now: now)
        }
        guard let forgotten = channels.newestForgotten(of: channel) else { return .new }
        return ChannelChain.mayBe(from: age, before: forgotten, now: now) ? .unknown : .new
    }
}
