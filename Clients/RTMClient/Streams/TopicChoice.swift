import RTMModel

/// Whom a subscription of a topic will deliver (C-9): those whom it has delivered before, and of those who
/// are asked for as many as fit. A named user who doesn't publish the topic yet is chosen, too: the server
/// then delivers from the user's first message on, and no message can be faster than a second subscribe
/// (C-10). Pure: it is given the random numbers.
struct TopicChoice: Sendable, Hashable {
    /// Everybody whom the subscription delivers from now on, whether they publish the topic or not, by user
    /// id.
    var publishers: [String]
    /// Those of the users asked for who publish the topic and are delivered; without users, those who were
    /// chosen.
    var succeeded: [String]
    /// Those who don't publish the topic yet, or who exceed the limit (L-29).
    var failed: [String]

    /// - Parameters:
    ///   - users: who is asked for; none stands for as many publishers as fit, chosen at random.
    ///   - present: who publishes the topic.
    ///   - subscribed: whom the subscription delivers already, whether they publish the topic or not.
    /// - Throws: `.channelExceedTopicUserLimitation` (-11003) if the limit leaves none of the users.
    init(
        of users: [String], among present: Set<String>, subscribed: [String],
        using random: inout some RandomNumberGenerator
    ) throws(RTMError) {
        let known = Set(subscribed)
        let free = max(0, Limits.topicPublishersMax - known.count)
        let asked = users.isEmpty ? present.sorted().shuffled(using: &random) : users.unique
        let added = asked.filter { !known.contains($0) }
        guard free > 0 || added.isEmpty else {
            throw RTMError(
                .channelExceedTopicUserLimitation,
                "\(known.count) users of the topic are subscribed, which is the limit",
                limit: .init(name: "users of a subscribed topic", value: UInt64(Limits.topicPublishersMax)))
        }
        // Those who publish now go before those who may.
        let ordered = added.filter { present.contains($0) } + added.filter { !present.contains($0) }
        let taken = Set(ordered.prefix(free))
        publishers = known.union(taken).sorted()
        let delivered = (users.isEmpty ? taken : taken.union(known)).intersection(present)
        succeeded = asked.filter { delivered.contains($0) }
        failed = users.isEmpty ? [] : asked.filter { !delivered.contains($0) }
    }
}

extension [String] {
    /// The first of each.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
