import Logging
import Synchronization

/// The log lines about the links between this process and the others. Each event loop has links of its own,
/// one for each shard, and those to one place are lost and come back together. So a place has one line when
/// its first link is up, one when the first of them is lost, one for each other cause, and one when all are
/// back. A caller has one line when its first link has opened and one when the last has closed.
package final class ServiceLinkLog: Sendable {
    /// Limit: causes of one outage that are logged. They may hold words of the peer.
    private static let causesMax = 8

    struct Place: Hashable {
        let service: String
        /// All addresses at which the link may be opened.
        let address: String
    }

    private struct Links {
        var count = 0
        var up = 0
        /// Whether a line has said that there is a link.
        var isAnnounced = false
        /// Those of the present outage.
        var causes: Set<String> = []
    }

    private let places = Mutex<[Place: Links]>([:])
    /// How many links each caller has opened, by its name.
    private let callers = Mutex<[String: Int]>([:])

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
        let (level, links) = places.withLock { places -> (Logger.Level, Int) in
            var links = places[place, default: Links()]
            defer { places[place] = links }
            links.up += 1
            if links.causes.isEmpty {
                defer { links.isAnnounced = true }
                return (links.isAnnounced ? .debug : .info, links.count)
            }
            guard links.up >= links.count else { return (.debug, links.count) }
            (links.causes, links.isAnnounced) = ([], true)
            return (.notice, links.count)
        }
        var metadata: Logger.Metadata = ["incarnation": "\(incarnation)"]
        if level == .notice { metadata["links"] = "\(links)" }
        logger.ofPlace.log(level: level, "link up", metadata: metadata)
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
        logger.ofPlace.log(
            level: isNew ? .warning : .debug, wasUp ? "link down" : "link not opened",
            metadata: ["reason": "\(cause)"])
    }

    /// A caller was admitted over one more link.
    func opened(by caller: String, _ logger: Logger) {
        let count = callers.withLock { callers -> Int in
            callers[caller, default: 0] += 1
            return callers[caller, default: 0]
        }
        logger.log(level: count == 1 ? .info : .debug, "link opened", metadata: ["node": "\(caller)"])
    }

    func closed(by caller: String, _ reason: ServiceLinkDownReason, _ logger: Logger) {
        let isLast = callers.withLock { callers -> Bool in
            let count = callers[caller, default: 1] - 1
            callers[caller] = count > 0 ? count : nil
            return count <= 0
        }
        logger.log(
            level: isLast ? .info : .debug, "link closed",
            metadata: ["node": "\(caller)", "reason": "\(reason)"])
    }
}

extension Logger {
    /// What is logged of one shard holds for all links to the place.
    fileprivate var ofPlace: Logger {
        var logger = self
        logger[metadataKey: "shard"] = nil
        return logger
    }
}
