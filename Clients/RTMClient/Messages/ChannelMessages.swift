import RTMModel

/// What comes in the sequence of a channel's or a topic's messages.
public enum ReceivedMessage: Sendable, Hashable {
    /// A message.
    case message(MessageEvent)
    /// Here messages are missing, or may be. What the app needs of them it has to load, such as the history.
    case missing(MissingMessages)

    /// The message, if it is one.
    public var message: MessageEvent? { if case .message(let message) = self { message } else { nil } }
}

/// Why messages are missing in a sequence.
public enum MissingMessages: Sendable, Hashable {
    /// They could not be delivered (M-38).
    case gap(GapEvent)
    /// The consumer was behind by more than its buffer, which has lost so many of them.
    case overflow(dropped: Int)
    /// There were messages, and this client has no key for them.
    case undecryptable(UndecryptableEvent)
}

/// The messages of one channel or topic, for one consumer. See ``RTMClient/messages(in:type:)`` and
/// ``StreamChannel/messages(in:)``.
public struct ChannelMessages: AsyncSequence, Sendable {
    public typealias Element = ReceivedMessage
    public typealias Failure = Never

    let events: RTMEvents
    let source: MessageSource

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: events.makeAsyncIterator(), source: source)
    }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        var events: RTMEvents.Iterator
        let source: MessageSource

        /// Waits for the next message. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next() async -> ReceivedMessage? {
            while let event = await events.next() {
                if let received = source.received(event) { return received }
            }
            return nil
        }

        /// Waits for the next message. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ReceivedMessage? {
            await next()
        }
    }
}

/// Whose messages a sequence has. Pure.
struct MessageSource: Sendable {
    /// As events of messages name it.
    let channel: ChannelID
    var topic = ""
    /// As gaps in the log name it.
    let log: ChannelID

    init(_ channel: ChannelID) { (self.channel, log) = (channel, channel) }

    init(_ topic: TopicName) {
        channel = .stream(topic.channel)
        self.topic = topic.topic
        log = .topic(topic)
    }

    /// `nil` if the event isn't about these messages.
    func received(_ event: RTMEvent) -> ReceivedMessage? {
        switch event {
        case .message(let message)
        where ChannelID(type: message.channelType, name: message.channelName) == channel
            && message.topic == topic:
            .message(message)
        case .gap(let gap) where ChannelID(type: gap.channelType, name: gap.channelName) == log:
            .missing(.gap(gap))
        case .undecryptable(let event)
        where event.content == .message
            && ChannelID(type: event.channelType, name: event.channelName) == log:
            .missing(.undecryptable(event))
        case .overflow(let dropped): .missing(.overflow(dropped: dropped))
        default: nil
        }
    }
}

extension RTMClient {
    /// The messages of a channel from now on, as far as it is subscribed, and the places where messages are
    /// missing. ``subscribe(to:features:)`` returns such a sequence itself. This is for messages to this
    /// user, and for another consumer.
    ///
    /// ```swift
    /// for await case .message(let message) in client.messages(in: "alice", type: .user) { … }
    /// ```
    ///
    /// The sequence has a buffer of its own, for as many messages as `eventBufferCapacity` says. A consumer
    /// that falls behind by more loses the oldest messages of this channel and gets
    /// ``MissingMessages/overflow(dropped:)`` in their place; what happens in other channels doesn't matter.
    ///
    /// - Parameter type: `.user` with the own user id for messages to this user.
    public func messages(in channel: String, type: ChannelType = .message) -> ChannelMessages {
        messages(of: MessageSource(ChannelID(type: type, name: channel)))
    }

    func messages(of source: MessageSource) -> ChannelMessages {
        ChannelMessages(events: events { source.received($0) != nil }, source: source)
    }
}
