import RTMModel

/// Who publishes the topics of a stream channel, event by event. See ``StreamChannel/topicEvents``.
public struct TopicEvents: AsyncSequence, Sendable {
    public typealias Element = TopicEvent
    public typealias Failure = Never

    let events: RTMEvents
    let channel: String

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), channel: channel)
    }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var events: RTMEvents.Iterator
        let channel: String

        /// Waits for the next event. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next() async -> TopicEvent? {
            while let event = await events.next() {
                if case .topic(let change) = event, change.channelName == channel { return change }
            }
            return nil
        }

        /// Waits for the next event. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> TopicEvent? {
            await next()
        }
    }
}

extension StreamChannel {
    /// The messages of a topic from now on, as far as it is subscribed, and the places where messages are
    /// missing, as with ``RTMClient/messages(in:type:)``.
    public func messages(in topic: String) -> ChannelMessages {
        client.messages(of: MessageSource(TopicName(topic, in: name)))
    }

    /// Who publishes the topics from now on. The snapshot comes with the join: make the sequence before
    /// that, with ``RTMClient/topicEvents(of:)``, to see it.
    public var topicEvents: TopicEvents { client.topicEvents(of: name) }
}

extension RTMClient {
    /// Who publishes the topics of a stream channel, joined now or later.
    public func topicEvents(of channel: String) -> TopicEvents {
        let events = events { event in
            if case .topic(let change) = event { change.channelName == channel } else { false }
        }
        return TopicEvents(events: events, channel: channel)
    }
}
