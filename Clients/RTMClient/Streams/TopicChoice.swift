import RTMModel

/// Whom a subscription of a topic will deliver (C-9): those whom it has delivered before, and of those who
/// are asked for as many as fit. Pure: it is given the random numbers.
struct TopicChoice: Sendable, Hashable {
    /// Everybody whom the subscription delivers from now on, by user id.
    var publishers: [String]
    /// Those of the users asked for who are among them; without users, those who were chosen.
    var succeeded: [String]
    /// Those who don't publish the topic, or for whom there was no room (L-29).
    var failed: [String]

    /// - Parameters:
    ///   - users: who is asked for; none stands for as many publishers as fit, chosen at random.
    ///   - present: who publishes the topic.
    ///   - subscribed: whom the subscription delivers already.
    /// - Throws: `.channelExceedTopicUserLimitation` (-11003) if there is room for none of the users.
    init(
        of users: [String], among present: Set<String>, subscribed: [String],
        using random: inout some RandomNumberGenerator
    ) throws(RTMError) {
        let known = Set(subscribed)
        let room = max(0, Limits.topicPublishersMax - known.count)
        let asked = users.isEmpty ? present.sorted().shuffled(using: &random) : users.unique
        let wanted = asked.filter { present.contains($0) && !known.contains($0) }
        let taken = Set(wanted.prefix(room))
        guard room > 0 || wanted.isEmpty else {
            throw RTMError(
                .channelExceedTopicUserLimitation,
                "\(known.count) publishers of the topic are subscribed, which is the limit",
                limit: .init(
                    name: "publishers of a subscribed topic", value: UInt64(Limits.topicPublishersMax)))
        }
        publishers = known.union(taken).sorted()
        succeeded = asked.filter { taken.contains($0) || known.contains($0) && !users.isEmpty }
        failed = users.isEmpty ? [] : asked.filter { !taken.contains($0) && !known.contains($0) }
    }
}

extension [String] {
    /// The first of each.
    fileprivate var unique: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
