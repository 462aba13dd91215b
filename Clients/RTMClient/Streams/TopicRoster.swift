import RTMModel

/// Who publishes which topics of a stream channel. The server shows publishers as it shows members of a
/// channel, with a topic for each state, and this turns what it says into events of topics. Pure.
struct TopicRoster: Sendable {
    /// The number of the membership of this user in the stream channel that the roster is of.
    let membership: UInt64
    /// By user id: the metas of the user's topics.
    private var publishers: [String: [String: String]] = [:]

    init(membership: UInt64 = 0) { self.membership = membership }

    /// The ids of those who publish the topic; empty if there is no such topic.
    func publishers(of topic: String) -> Set<String> {
        Set(publishers.lazy.filter { $0.value[topic] != nil }.map(\.key))
    }

    /// Whether the user publishes any topic.
    func shows(_ userID: String) -> Bool { publishers[userID]?.isEmpty == false }

    /// By name.
    var topics: [Topic] {
        var topics: [String: [TopicPublisher]] = [:]
        for user in publishers.sortedUsers {
            for (topic, meta) in user.states {
                topics[topic, default: []].append(TopicPublisher(userID: user.userID, meta: meta))
            }
        }
        return topics.map { Topic(name: $0.key, publishers: $0.value) }.sorted { $0.name < $1.name }
    }

    /// Users and their topics as the server lists them. It is the truth at this moment, and the app gets no
    /// event of it.
    mutating func replace(_ users: [UserState]) {
        publishers = Dictionary(users.filter { !$0.states.isEmpty }.map { ($0.userID, $0.states) }) { $1 }
    }

    /// Takes what presence says of the publishers.
    ///
    /// - Returns: the events for the app, in this order.
    mutating func apply(_ change: PresenceEvent.Change) -> [TopicEvent.Change] {
        switch change {
        case .snapshot(let users):
            replace(users)
            return [.snapshot(topics)]
        case .joined(let user, let states): return show(UserState(userID: user, states: states))
        case .left(let user), .timedOut(let user): return show(UserState(userID: user))
        case .statesChanged(let user): return show(user)
        case .interval(let interval):
            return (interval.joined + interval.left + interval.timedOut).map { UserState(userID: $0) }
                .flatMap { show($0) } + interval.states.flatMap { show($0) }
        case .outage:
            publishers = [:]
            return []
        }
    }

    private mutating func show(_ user: UserState) -> [TopicEvent.Change] {
        let before = publishers[user.userID] ?? [:]
        publishers[user.userID] = user.states.isEmpty ? nil : user.states
        let left = before.filter { user.states[$0.key] == nil }.sorted { $0.key < $1.key }
        let joined = user.states.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }
        return left.map { .left(topic: $0.key, TopicPublisher(userID: user.userID, meta: $0.value)) }
            + joined.map { .joined(topic: $0.key, TopicPublisher(userID: user.userID, meta: $0.value)) }
    }
}
