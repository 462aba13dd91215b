import Logging
import Synchronization

/// The log lines about the links that the event loops of a process have to one place. Each loop has links of
/// its own, and they are lost and come back together. So there is one line when the first of them is lost,
/// one for each other cause, and one when all are back.
package final class ServiceLinkLog: Sendable {
    /// Limit: causes of one outage that are logged. They may hold words of the peer.
    private static let causesMax = 8

    struct Place: Hashable {
        let service: String
        let address: String
        let shard: Int
    }

    private struct Links {
        var count = 0
        var up = 0
        /// Those of the present outage.
        var causes: Set<String> = []
    }

    private let places = Mutex<[Place: Links]>([:])

    package init() {}

    func started(_ place: Place) { places.withLock { $0[place, default: Links()].count += 1 } }

    func retired(_ place: Place) {
        places.withLock { places in
            places[place]?.count -= 1
            if let links = places[place], links.count <= 0 { places[place] = nil }
        }
    }

    /// A link is up, for the first time or again.
    func cameUp(_ place: Place, _ logger: Logger, incarnation: UInt64) {
        let (links, isBack) = places.withLock { places -> (Int, Bool) in
            places[place, default: Links()].up += 1
            guard let links = places[place], links.up >= links.count, !links.causes.isEmpty else {
                return (0, false)
            }
            places[place]?.causes = []
            return (links.count, true)
        }
        // Who was warned that the link is down receives at the same level that it is back.
        let metadata: Logger.Metadata = ["incarnation": "\(incarnation)"]
        guard isBack else { return logger.debug("link up", metadata: metadata) }
        logger.warning("link up", metadata: metadata.merging(["links": "\(links)"]) { $1 })
    }

    /// A link is down, or could not be opened. A peer that stays away fails at every attempt, and only the
    /// first failure of a cause is a warning.
    ///
    /// - Parameter isEnding: whether this end closes the link.
    func wentDown(
        _ place: Place, _ logger: Logger, _ reason: ServiceLinkDownReason, wasUp: Bool, isEnding: Bool
    ) {
        let cause = "\(reason)"
        let isNew = places.withLock { places -> Bool in
            if wasUp { places[place]?.up -= 1 }
            guard !isEnding, places[place, default: Links()].causes.count < Self.causesMax else {
                return false
            }
            return places[place, default: Links()].causes.insert(cause).inserted
        }
        logger.log(
            level: isNew ? .warning : .debug, wasUp ? "link down" : "link not opened",
            metadata: ["reason": "\(cause)"])
    }
}
