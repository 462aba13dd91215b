import RTMModel
import RTMWire

/// The subscribes to one channel that aren't live yet and have missed nothing since they began: every entry
/// that arrived meanwhile is one that they may not see.
///
/// A user's own join is such an entry. It moves the log behind nearly every subscribe, and without this list
/// the edge would ask messaging for a page that is empty.
struct UpToDateEntrants {
    /// The sessions by what they want to see. So an entry costs as much as there are sets of features,
    /// however many sessions come at once. A session has one subscribe to a channel at a time.
    private var sessions: [SubscriptionFeatures: Set<SessionID>] = [:]

    var isEmpty: Bool { sessions.isEmpty }

    /// The subscribe of this session stands at the channel's position.
    mutating func add(_ subscriber: Subscriber) {
        sessions[subscriber.features, default: []].insert(subscriber.session.id)
    }

    /// Entries arrived. Whoever may see them has missed something now, so it has to read the log.
    mutating func missed(_ delivery: DeliveryPush) {
        let publisher = SessionID(rawValue: delivery.publisherSession)
        for features in Array(sessions.keys) where features.contains(delivery.feature) {
            sessions[features] = sessions[features]?.contains(publisher) == true ? [publisher] : nil
        }
    }

    func contains(_ subscriber: Subscriber) -> Bool {
        sessions[subscriber.features]?.contains(subscriber.session.id) ?? false
    }

    mutating func remove(_ subscriber: Subscriber) {
        guard contains(subscriber) else { return }
        sessions[subscriber.features]?.remove(subscriber.session.id)
        if sessions[subscriber.features]?.isEmpty == true { sessions[subscriber.features] = nil }
        // An empty dictionary that had something keeps its memory, and every channel has a list.
        if sessions.isEmpty { sessions = [:] }
    }

    /// The log was lost up to a new position.
    mutating func removeAll() { sessions = [:] }
}
