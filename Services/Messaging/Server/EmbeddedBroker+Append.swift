import NIOCore
package import RTMModel
package import RTMWire

/// Events of presence and storage become entries like messages do: the same offsets, timestamps and
/// deliveries. The log writes the envelope around what it doesn't read.
extension EmbeddedBroker {
    package struct EventAppended {
        /// Of the entry; of the log's head when it was there before.
        package let position: StreamPosition
        package let timestamp: UInt64
        /// Nil when it was there before.
        package let appended: Appended?
    }

    package mutating func append(
        _ request: AppendRequest, now: UInt64
    ) throws(RTMError) -> EventAppended {
        guard request.channel.type != .user else {
            throw RTMError(.invalidChannelType, "an inbox carries messages only")
        }
        guard EventPublication.isEvent(request.event) else {
            throw RTMError(.invalidParameter, "an event is one field of a publication, other than a message")
        }
        let index = try index(of: request.channel, now: now)
        return append(request, at: index, now: now)
    }

    private mutating func append(_ request: AppendRequest, at index: Int, now: UInt64) -> EventAppended {
        guard channels[index].sources.admits(request.source, request.sequence) else {
            let log = channels[index].log
            return EventAppended(position: log.position, timestamp: log.lastTimestamp, appended: nil)
        }
        let entry = channels[index].log.append(
            session: request.publisherSession, feature: request.feature, now: now
        ) { offset, timestamp, frames in
            request.channel.name.withWireText { name in
                let publication = EventPublication(
                    channelType: request.channel.type, channel: name, offset: offset,
                    timestampMilliseconds: timestamp, publisher: request.publisher, event: request.event)
                ServerFrame(publication).encodeFrame(into: &frames)
            }
        }
        channels[index].log.trim(to: limits.retention, now: now)
        return EventAppended(
            position: StreamPosition(epoch: channels[index].log.epoch, offset: entry.offset),
            timestamp: entry.timestamp,
            appended: Appended(entries: entry, interests: channels[index].interests))
    }
}
