import NIOCore
import RTMModel
package import RTMWire

/// Looks for an entry of a channel, so that a backend learns what became of it. Entries point back to the one
/// before, so it goes back from the newest one, in turns between which others have theirs. Nothing is kept
/// for it: the tail is all that is known.
///
/// Pure.
package struct EntrySearch {
    /// Limit: entries that one turn looks at.
    private static let entriesPerTurn = 4_096

    private let request: ExplainRequest
    private let now: UInt64
    private var trace: EntryTrace
    private var entry: ExplainedEntry?
    /// The app with the tail, and the next entry to look at.
    private var next: (app: Int, place: EntryPlace)?

    package init(_ request: ExplainRequest, in broker: Broker, now: UInt64) {
        self.request = request
        self.now = now
        guard let wanted = request.entry else {
            trace = .none
            return
        }
        let table = broker.channels
        let (slot, log) = request.channel.withView { (table.slot(of: $0), table.extent(of: $0)) }
        if wanted.epoch != 0, wanted.epoch != log.head.epoch {
            trace = .otherLog
        } else if wanted.offset > log.partitionHead {
            trace = .ahead
        } else if wanted.offset > log.head.offset {
            trace = .absent
        } else {
            // The channel has no entry behind the newest one that is lost but those in the tail.
            trace = wanted.offset > log.newestLost ? .absent : .forgotten
            next = slot.map { (table[$0].app, table[$0].chain.newest) }
        }
    }

    /// Looks at the next entries.
    ///
    /// - Parameter link: what is known of a link; nil if it is gone.
    /// - Returns: the answer if these were the last.
    package mutating func look(
        in broker: Broker, _ link: (Broker.ServiceLinkID) -> ExplainedLink?
    ) -> ExplainResponse? {
        var left = Self.entriesPerTurn
        while let (app, place) = next {
            let tail = broker.channels.apps[app].tail
            guard let wanted = request.entry, tail.holds(place) else { break }
            guard left > 0 else { return nil }
            left -= 1
            let record = tail.record(at: place)
            if record.offset == wanted.offset {
                found(tail.entry(at: place))
                break
            }
            guard record.offset > wanted.offset else {
                trace = .absent
                break
            }
            next = (app, record.previous)
        }
        return answer(of: broker, link)
    }

    private mutating func found(_ entry: LogEntry) {
        trace = .found
        let publisher = entry.frame.withUnsafeReadableBytes { PublicationPublisher.first(in: $0)?.string }
        self.entry = ExplainedEntry(
            timestampMilliseconds: entry.timestamp, publisher: publisher ?? "",
            publisherSession: entry.publisherSession, feature: entry.feature)
    }

    private func answer(
        of broker: Broker, _ link: (Broker.ServiceLinkID) -> ExplainedLink?
    ) -> ExplainResponse {
        let table = broker.channels
        let (slot, log) = request.channel.withView { (table.slot(of: $0), table.extent(of: $0)) }
        var response = ExplainResponse(
            trace: trace, head: log.head, entry: entry,
            knownSinceMilliseconds: broker.leavesKnownSince(slot, now: now))
        guard let slot else { return response }
        let interests = Array(table[slot].interests)
        response.links = interests.compactMap { link($0.link) }
        if interests.isEmpty { response.leftMilliseconds = table[slot].leftAt }
        return response
    }
}

extension Broker {
    /// Since when a link that went is known: the channel keeps the time until it is forgotten, and another
    /// node has not passed it on.
    fileprivate func leavesKnownSince(_ slot: ChannelSlot?, now: UInt64) -> UInt64 {
        let began = max(knownSince, channels.leaderSince)
        return slot != nil ? began : max(began, now > limits.idleMax ? now - limits.idleMax : 0)
    }
}
