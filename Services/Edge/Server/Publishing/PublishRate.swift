import NIOCore
import RTMModel
import RTMServiceKit

/// How much may be published to all channels and users together: by one session, or by all sessions of
/// an app at one edge.
struct PublishRate: Sendable, Hashable {
    let messages: Rate
    /// Bytes of payload. A message of every allowed size passes after a rest.
    let bytes: Rate

    init(messages: Int, bytes: Int) {
        self.messages = Rate(perSecond: messages)
        self.bytes = Rate(perSecond: bytes, burst: max(bytes, Limits.messageBytesMax))
    }

    var isUnlimited: Bool { messages.isUnlimited && bytes.isUnlimited }

    static let unlimited = PublishRate(messages: 0, bytes: 0)
}

/// The rates that a publish may exceed.
enum PublishLimit: String, MetricLabel {
    case channel, topic, sessionMessages, sessionBytes, appMessages, appBytes
    static let labelName = "rate"
}

/// A publish exceeds a rate: which one, and how long to wait.
struct PublishShortage: Equatable {
    let limit: PublishLimit
    let perSecond: Int
    let wait: TimeAmount

    var error: RTMError {
        RTMError(
            .channelPublishMessageTooFrequent, "\(perSecond) \(allowed)",
            retryAfter: .nanoseconds(wait.nanoseconds),
            limit: .init(rate, perSecond))
    }

    private var allowed: String {
        switch limit {
        case .channel: "messages a second to one channel or user are allowed"
        case .topic: "messages a second to one topic are allowed"
        case .sessionMessages: "messages a second of one session are allowed, to all channels together"
        case .sessionBytes: "bytes of messages a second of one session are allowed"
        case .appMessages: "messages a second of all users of the app are allowed"
        case .appBytes: "bytes of messages a second of all users of the app are allowed"
        }
    }

    private var rate: RateLimit {
        switch limit {
        case .channel: .publish
        case .topic: .topicPublish
        case .sessionMessages: .sessionPublish
        case .sessionBytes: .sessionPublishBytes
        case .appMessages: .appPublish
        case .appBytes: .appPublishBytes
        }
    }
}

/// What is left of the rate of one session. Pure: the time is a parameter.
struct PublishBudget {
    private var messages: TokenBucket?
    private var bytes: TokenBucket?

    /// What one more message of so many bytes exceeds; nil if it may be published. Nothing is taken yet.
    mutating func shortage(_ count: Int, _ rate: PublishRate, now: NIODeadline) -> PublishShortage? {
        if let wait = Self.wait(for: 1, &messages, rate.messages, now) {
            return PublishShortage(
                limit: .sessionMessages, perSecond: rate.messages.perSecond, wait: wait)
        }
        guard let wait = Self.wait(for: count, &bytes, rate.bytes, now) else { return nil }
        return PublishShortage(limit: .sessionBytes, perSecond: rate.bytes.perSecond, wait: wait)
    }

    private static func wait(
        for count: Int, _ bucket: inout TokenBucket?, _ rate: Rate, _ now: NIODeadline
    ) -> TimeAmount? {
        guard !rate.isUnlimited else { return nil }
        var present = bucket ?? TokenBucket(rate, now: now)
        defer { bucket = present }
        return present.wait(for: count, rate, now: now)
    }

    /// Takes a message that has no shortage.
    mutating func spend(_ count: Int) {
        messages?.spend(1)
        bytes?.spend(count)
    }
}
