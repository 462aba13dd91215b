/// Which topics go first to a subscriber who reads more slowly than messages come (C-14). The publisher
/// chooses it when joining the topic.
public enum TopicPriority: Int, Sendable, Hashable, CaseIterable {
    /// The default.
    case normal = 0
    /// Goes before all other topics.
    case highest = 1
    /// Goes before normal topics.
    case high = 2
    /// Goes behind all other topics.
    case low = 3
}

extension TopicPriority: Comparable {
    /// What goes first is the least.
    public static func < (one: TopicPriority, other: TopicPriority) -> Bool { one.turn < other.turn }

    private var turn: Int {
        switch self {
        case .highest: 0
        case .high: 1
        case .normal: 2
        case .low: 3
        }
    }
}
