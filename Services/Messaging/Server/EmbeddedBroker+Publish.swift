import NIOCore
package import RTMModel
package import RTMWire

/// Messages become log entries, each of them once.
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
        let index = try channels.occupy(key, now: now)
        guard channels[index].log.admits(request.origin, count: request.messages.count) else {
            throw RTMError(
                .channelPublishMessageFailed,
                "the message is late: a newer message of its client is in the log already")
        }
        let entries = channels.append(at: index, now: now) { log in
            log.append(
                request.messages, session: request.publisherSession, feature: .message,
                origin: request.origin, now: now
            ) { message, offset, timestamp, frames in
                let publication = Publication(
                    channelType: type, channel: request.channel, offset: offset,
                    timestampMilliseconds: timestamp, publisher: request.publisher, message: message)
                publication.encodeFrame(into: &frames)
            }
        }
        return Appended(entries: entries, interests: channels[index].interests)
    }

    private func hasInterest(_ key: ChannelKey) -> Bool {
        guard let index = channels.place(of: key) else { return false }
        return !channels[index].interests.isEmpty
    }

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
        let memory = channels.place(of: key).map {
            channels[$0].log.memory(of: origin, age: UInt64(age), now: now)
        }
        switch memory ?? .new {
        case .new:
            guard origin.epoch == 0 || channels.hasHad(epoch: origin.epoch) else {
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
}
