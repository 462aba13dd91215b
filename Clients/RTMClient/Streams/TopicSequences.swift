import RTMModel

/// The messages of one topic, for one consumer. See ``StreamChannel/messages(in:)``.
public struct TopicMessages: AsyncSequence, Sendable {
    public typealias Element = MessageEvent
    public typealias Failure = Never

    let events: RTMEvents
    let topic: TopicName

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), topic: topic)
    }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var events: RTMEvents.Iterator
        let topic: TopicName

        /// Waits for the next message. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next() async -> MessageEvent? {
            while let event = await events.next() {
                guard case .message(let message) = event, message.channelType == .stream,
                    message.channelName == topic.channel, message.topic == topic.topic
                else { continue }
                return message
            }
            return nil
        }

        /// Waits for the next message. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> MessageEvent? {
            await next()
        }
    }
}

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
    /// The messages of a topic from now on, as far as it is subscribed. A consumer that falls behind by more
    /// than its buffer loses the oldest events, as with ``RTMClient/events(buffering:)``.
    public func messages(in topic: String) -> TopicMessages {
        TopicMessages(events: client.events(), topic: TopicName(topic, in: name))
    }

    /// Who publishes the topics from now on. The snapshot comes with the join: make the sequence before
    /// that, with ``RTMClient/topicEvents(of:)``, to see it.
    public var topicEvents: TopicEvents { client.topicEvents(of: name) }
}

extension RTMClient {
    /// Who publishes the topics of a stream channel, joined now or later.
    public func topicEvents(of channel: String) -> TopicEvents {
        TopicEvents(events: events(), channel: channel)
    }
}
