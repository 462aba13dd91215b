import NIOCore
import RTMServiceLink
import RTMWire

/// Reads of feeds that wait for an entry. They are answered at the end of the turn in which one came, so that
/// a page has everything that came in the turn.
final class FeedReads: Flushable {
    struct Read {
        let request: FeedRequest
        let id: UInt64
        let link: AcceptedServiceLink
        /// The number of the app.
        let app: Int
        /// In milliseconds.
        let deadline: UInt64
    }

    private var waiting: [Read] = []
    private var due: [Read] = []
    private let answer: (Read) -> Void

    init(_ answer: @escaping (Read) -> Void) { self.answer = answer }

    var isEmpty: Bool { waiting.isEmpty }

    func wait(_ read: Read) { waiting.append(read) }

    /// The app has new entries.
    func appended(_ app: Int) { answerAtEndOfTurn { $0.app == app } }

    func expire(now: UInt64) { answerAtEndOfTurn { $0.deadline <= now } }

    func linkClosed(_ link: AcceptedServiceLink) {
        waiting.removeAll { $0.link === link }
        due.removeAll { $0.link === link }
    }

    private func answerAtEndOfTurn(_ isDue: (Read) -> Bool) {
        let found = waiting.filter(isDue)
        guard let first = found.first else { return }
        waiting.removeAll(where: isDue)
        if due.isEmpty { EndOfTurn.shared(on: first.link.eventLoop).schedule(self) }
        due += found
    }

    func flushAtEndOfTurn() {
        let reads = due
        due = []
        for read in reads { answer(read) }
    }
}
