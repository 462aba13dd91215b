import RTMModel
import RTMWire

/// What temporary states may be: at most 32 per user and channel by default (L-31), with keys and values of
/// limited size (L-14). Also merges them: a new value replaces the old one, other states stay (P-40).
package struct StateLimits: Sendable, Hashable {
    package var countMax: Int
    package var keyBytesMax: Int
    package var valueBytesMax: Int
    private var words = Words.ofStates

    package init(countMax: Int, keyBytesMax: Int, valueBytesMax: Int) {
        self.countMax = countMax
        self.keyBytesMax = keyBytesMax
        self.valueBytesMax = valueBytesMax
    }

    /// The states of a publisher of topics are its topics: a key is a topic's name (L-8), a value is the meta
    /// (L-9), and there are so many of them (L-27).
    package static let topics: StateLimits = {
        var limits = StateLimits(
            countMax: Limits.joinedTopicsMax, keyBytesMax: Limits.topicNameBytesMax,
            valueBytesMax: Limits.topicMetaBytesMax)
        limits.words = .ofTopics
        return limits
    }()

    /// Checks the items of a call and copies them, in the order of their keys.
    func checked(_ items: [(key: WireText, value: WireText)]) throws(RTMError) -> [StateItem] {
        guard !items.isEmpty else {
            throw RTMError(.presenceInvalidArgument, "the call sets no \(words.noun)")
        }
        // The call is refused before the items are copied: no call with distinct keys can be valid with more
        // of them.
        guard items.count <= countMax else { throw tooMany(items.count) }
        var keys: Set<String> = []
        var states: [StateItem] = []
        for item in items {
            let key = try checked(key: item.key)
            guard keys.insert(key).inserted else {
                throw RTMError(words.duplicate, "the \(words.key) \"\(key)\" is given twice")
            }
            states.append(StateItem(key: key, value: try checked(value: item.value)))
        }
        return states.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    /// The states that a user brings along with its join, in the order of their keys (P-46). Where they are
    /// no states that a call may set, they are none: the client learns that they weren't set, and the call
    /// that follows is refused with the reason. Topics can't be brought along.
    func acceptable(_ items: [StateItem], in type: ChannelType) -> [StateItem] {
        let fit = items.allSatisfy { item in
            (1...keyBytesMax).contains(item.key.utf8.count) && item.value.utf8.count <= valueBytesMax
        }
        guard type != .topics, fit, items.count <= countMax, Set(items.map(\.key)).count == items.count else {
            return []
        }
        return StateLimits.merge(items, into: [])
    }

    private func checked(key: WireText) throws(RTMError) -> String {
        guard !key.isEmpty else { throw RTMError(words.invalidKey, "a \(words.key) is empty") }
        guard key.bytes.count <= keyBytesMax else {
            throw RTMError(
                words.longKey,
                "a \(words.key) has \(key.bytes.count) bytes, \(keyBytesMax) are allowed",
                limit: .init(name: "\(words.key) bytes", value: UInt64(keyBytesMax)))
        }
        if let rule = words.rule { try rule.check(key.bytes) }
        guard key.isValidUTF8 else {
            throw RTMError(words.invalidKey, "a \(words.key) is not valid UTF-8")
        }
        return key.string
    }

    private func checked(value: WireText) throws(RTMError) -> String {
        guard value.bytes.count <= valueBytesMax else {
            throw RTMError(
                words.longValue,
                "a \(words.value) has \(value.bytes.count) bytes, \(valueBytesMax) are allowed",
                limit: .init(name: "\(words.value) bytes", value: UInt64(valueBytesMax)))
        }
        guard value.isValidUTF8 else {
            throw RTMError(words.invalidValue, "a \(words.value) is not valid UTF-8")
        }
        return value.string
    }

    func tooMany(_ count: Int) -> RTMError {
        RTMError(
            words.tooMany, "the user would have \(count) \(words.noun)s, \(countMax) are allowed",
            limit: .init(name: "\(words.noun)s", value: UInt64(countMax)))
    }

    /// The states after the items have been set, in the order of their keys.
    static func merge(_ items: [StateItem], into states: [StateItem]) -> [StateItem] {
        let overwritten = Set(items.map(\.key))
        return (states.filter { !overwritten.contains($0.key) } + items)
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

extension StateLimits {
    /// What the states are called in refusals, and by which codes these go.
    private struct Words: Sendable, Hashable {
        let noun: String
        let key: String
        let value: String
        let invalidKey: ErrorCode
        let longKey: ErrorCode
        let duplicate: ErrorCode
        let invalidValue: ErrorCode
        let longValue: ErrorCode
        let tooMany: ErrorCode
        let isTopic: Bool

        /// Which characters a key has; nil if any.
        var rule: NameRule? { isTopic ? .topic : nil }

        static let ofStates = Words(
            noun: "state", key: "state key", value: "state value", invalidKey: .presenceInvalidStateKey,
            longKey: .presenceStateKeySizeOverflow, duplicate: .presenceStateDuplicateKey,
            invalidValue: .presenceInvalidStateValue, longValue: .presenceStateValueSizeOverflow,
            tooMany: .presenceStateCountOverflow, isTopic: false)
        static let ofTopics = Words(
            noun: "topic", key: "topic name", value: "topic meta", invalidKey: .channelInvalidTopicName,
            longKey: .channelInvalidTopicName, duplicate: .channelInvalidTopicName,
            invalidValue: .channelInvalidTopicMeta, longValue: .channelInvalidTopicMeta,
            tooMany: .channelExceedTopicLimitation, isTopic: true)
    }
}
