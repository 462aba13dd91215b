package import NIOCore
package import RTMModel
package import RTMServiceKit
package import RTMWire

/// Messages become log entries, each of them once.
extension Broker {
    package struct Appended {
        /// Has a count of 0 when the client sent a message again and the log already had it. Offset and time
        /// are then those of the first time.
        package let entries: AppendedEntries
        /// The interests that get the entries.
        package let interests: ShortList<Interest>
    }

    /// Appends all of the messages to their channel's log, or none. When the client sends a message again and
    /// the log already has it, the answer is the same as the first time, whether the receiver is still online
    /// or not.
    package mutating func publish(_ request: PublishRequest, now: UInt64) throws(RTMError) -> Appended {
        guard let type = request.channelType, type == .message || type == .user || type == .topic else {
            throw RTMError(.invalidChannelType, "messages are published to channels, users and topics")
        }
        channels.dropOldestEntries()
        let channel = ChannelView(appID: request.appID, type: type, name: request.channel)
        let origin = names.origin(request)
        if let again = RepeatedPublish(request, origin, to: channel, now: now),
            let first = try again.first(in: channels, knownSince: knownSince)
        {
            return Appended(entries: first, interests: [])
        }
        if request.needsReceiver, !hasReceiver(channel, now: now) {
            throw RTMError(.channelReceiverOffline, "user \(channel.name.string) is not online")
        }
        let slot = try channels.occupy(channel, by: .publisher(request.publisherSession), now: now)
        let oldest = channels.oldestTime(at: slot) ?? now
        guard
            channels[slot].chain.admits(origin, count: request.messages.count, oldest: oldest, now: now)
        else {
            throw RTMError(
                .channelPublishMessageFailed,
                "the message is late: a newer message of its client is in the log already")
        }
        let entries = NewEntries(
            count: request.messages.count, channel: slot, session: request.publisherSession,
            feature: .message, origin: origin, now: now)
        var messages = request.messages.makeIterator()
        let appended = channels.append(entries) { offset, time, frames in
            guard let message = messages.next() else { return }
            let publication = Publication(
                channelType: type, channel: request.channel, offset: offset,
                timestampMilliseconds: time.milliseconds, order: time.order,
                publisher: request.publisher, message: message)
            publication.encodeFrame(into: &frames)
        }
        if recorder.isKept { recorder.note(appended, origin, at: slot, in: channels) }
        return Appended(entries: appended, interests: channels[slot].interests)
    }

    /// The frames of what was appended, one behind the other. They share the memory of the tail, which is
    /// copied if it is appended to while they are held.
    package func frames(of appended: Appended) -> ByteBuffer { channels.frames(of: appended.entries) }

    /// Whether the channel has a subscriber, or its owner was online at the former leader and is about to
    /// attach again.
    func hasReceiver(_ channel: ChannelView, now: UInt64) -> Bool {
        guard let slot = channels.slot(of: channel) else { return false }
        return !channels[slot].interests.isEmpty
            || now < settlesAt && channels[slot].ownership?.isAwaited == true
    }
}
