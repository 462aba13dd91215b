import RTMModel

/// The messages of one channel, for one consumer. See ``RTMClient/messages(in:type:)``.
public struct ChannelMessages: AsyncSequence, Sendable {
    public typealias Element = MessageEvent
    public typealias Failure = Never

    let events: RTMEvents
    let channel: String
    let type: ChannelType

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), channel: channel, type: type)
    }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var events: RTMEvents.Iterator
        let channel: String
        let type: ChannelType

        /// Waits for the next message. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next() async -> MessageEvent? {
            while let event = await events.next() {
                if case .message(let message) = event, message.channelName == channel,
                    message.channelType == type
                {
                    return message
                }
            }
            return nil
        }

        /// Waits for the next message. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> MessageEvent? {
            await next()
        }
    }
}

extension RTMClient {
    /// The messages of a channel from now on, as far as it is subscribed. Make the sequence before the
    /// `subscribe`, and no message is missed.
    ///
    /// A consumer that falls behind by more than its buffer loses the oldest messages. Who has to know of
    /// that, and of gaps, reads ``events(buffering:)``.
    ///
    /// - Parameter type: `.user` with the own user id for messages to this user.
    public func messages(in channel: String, type: ChannelType = .message) -> ChannelMessages {
        ChannelMessages(events: events(), channel: channel, type: type)
    }
}
