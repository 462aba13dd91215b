import RTMModel
import RTMWire

/// The subscribes to one channel that aren't live yet and have missed nothing since they began: every entry
/// that arrived meanwhile is one that they may not see.
///
/// A user's own join is such an entry. It moves the log behind nearly every subscribe, and without this list
/// the edge would ask messaging for a page that is empty.
struct UpToDateEntrants {
    private struct Entrant {
        let id: SubscribeID
        let session: SessionID
        let features: SubscriptionFeatures
    }

    private var entrants: [Entrant] = []
    /// An entry of another feature is for none of the entrants.
    private var features: SubscriptionFeatures = []

    var isEmpty: Bool { entrants.isEmpty }

    /// A subscribe stands at the channel's position.
    mutating func add(_ id: SubscribeID, _ subscriber: Subscriber) {
        entrants.append(Entrant(id: id, session: subscriber.session.id, features: subscriber.features))
        features.formUnion(subscriber.features)
    }

    /// Entries arrived. Whoever may see them has missed something now, so it has to read the log.
    mutating func missed(_ delivery: DeliveryPush) {
        guard features.contains(delivery.feature) else { return }
        entrants.removeAll {
            $0.features.contains(delivery.feature) && $0.session.rawValue != delivery.publisherSession
        }
        features = entrants.reduce(into: []) { $0.formUnion($1.features) }
    }

    func contains(_ id: SubscribeID) -> Bool { entrants.contains { $0.id == id } }

    mutating func remove(_ id: SubscribeID) {
        guard !entrants.isEmpty else { return }
        entrants.removeAll { $0.id == id }
        if entrants.isEmpty { features = [] }
    }

    /// The log was lost up to a new position.
    mutating func removeAll() { self = UpToDateEntrants() }
}
