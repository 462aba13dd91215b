import NIOCore
package import RTMModel
package import RTMWire

/// Events of presence and storage become log entries as messages do, with the same offsets, timestamps and
/// deliveries, and so do messages that apps have published in storage's database. The log writes the envelope
/// around an event without reading the event itself.
extension Broker {
    package struct EventsAppended {
        /// The position of the last event, which may have been in the log before; the position of the log's
        /// head when the request had no event.
        package let position: StreamPosition
        package let timestamp: UInt64
        /// The events that were appended now, in order, without those that were in the log before, and
        /// without messages that found no receiver.
        package let appended: [Appended]
    }

    package mutating func append(
        _ request: AppendRequest, now: UInt64
    ) throws(RTMError) -> EventsAppended {
        for event in request.events { try check(event, for: request.channel) }
        if request.channel.type == .user, !request.channel.withView({ hasReceiver($0, now: now) }) {
            return EventsAppended(
                position: StreamPosition(epoch: channels.firstEpoch, offset: 0), timestamp: now, appended: [])
        }
        let slot = try channels.occupy(request.channel, by: .service, now: now)
        channels.dropOldestEntries()
        var appended: [Appended] = []
        var last: AppendSources.Position?
        for event in request.events {
            if let position = channels[slot].sources.position(of: event.sequence, from: request.source) {
                last = position
                continue
            }
            appended.append(append(event, of: request.source, to: request.channel, at: slot, now: now))
            let chain = channels[slot].chain
            let position = AppendSources.Position(offset: chain.head, timestamp: chain.lastTimestamp)
            channels[slot].sources.appended(event.sequence, from: request.source, at: position)
            last = position
        }
        let head = channels.position(of: slot)
        return EventsAppended(
            position: StreamPosition(epoch: head.epoch, offset: last?.offset ?? head.offset),
            timestamp: last?.timestamp ?? channels[slot].chain.lastTimestamp, appended: appended)
    }

    /// Whether the event may be an entry of the channel: messages go to channels and inboxes, and everything
    /// else to all logs but inboxes.
    private func check(_ event: AppendedEvent, for channel: ChannelKey) throws(RTMError) {
        guard event.feature.isOfEntry, let kind = EventPublication.kind(of: event.event),
            (kind == .message) == (event.feature == .message)
        else {
            throw RTMError(
                .invalidParameter,
                "an event is one field of a publication, and has the one feature that selects it")
        }
        guard kind == .message ? channel.type == .message || channel.type == .user : channel.type != .user
        else {
            throw RTMError(
                .invalidChannelType,
                kind == .message
                    ? "messages are appended to channels and users" : "an inbox carries messages only")
        }
    }

    private mutating func append(
        _ event: AppendedEvent, of source: UInt64, to channel: ChannelKey, at slot: ChannelSlot,
        now: UInt64
    ) -> Appended {
        let entries = NewEntries(
            count: 1, channel: slot, session: event.publisherSession, feature: event.feature,
            origin: names.origin(event), now: now)
        let appended = channels.append(entries) { offset, time, frames in
            channel.name.withWireText { name in
                let publication = EventPublication(
                    channelType: channel.type, channel: name, offset: offset,
                    timestampMilliseconds: time.milliseconds, order: time.order,
                    publisher: event.publisher, event: event.event)
                ServerFrame(publication).encodeFrame(into: &frames)
            }
        }
        if recorder.isKept {
            recorder.note(
                appended, entries.origin, at: slot, in: channels, source: source,
                sourceSequence: event.sequence)
        }
        return Appended(entries: appended, interests: channels[slot].interests)
    }
}
