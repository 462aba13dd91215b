import NIOCore
import RTMWire

/// What was asked of all edges, which have not all reported on it yet. Pure: it holds the ids of links.
struct Inquiries<Question: Equatable, Outcome: Equatable> {
    /// Limit: questions at a time. One more is refused.
    static var countMax: Int { 64 }

    struct Inquiry: Equatable {
        let question: Question
        /// The link of who asks, and its request.
        let link: UInt64
        let request: UInt64
        /// The links that have not reported.
        var waiting: Set<UInt64>
        var outcome: Outcome
    }

    private var open: [UInt64: Inquiry] = [:]
    private var lastNumber: UInt64 = 0

    var isFull: Bool { open.count >= Self.countMax }

    /// Returns the number of the inquiry, which the reports carry.
    mutating func begin(
        _ question: Question, _ outcome: Outcome, asking links: [UInt64], for link: UInt64, _ request: UInt64
    ) -> UInt64 {
        lastNumber += 1
        open[lastNumber] = Inquiry(
            question: question, link: link, request: request, waiting: Set(links), outcome: outcome)
        return lastNumber
    }

    /// Returns the inquiry if this was the last report that it waited for.
    mutating func take(
        _ number: UInt64, from link: UInt64, _ add: (inout Outcome) -> Void
    ) -> Inquiry? {
        guard open[number]?.waiting.remove(link) != nil else { return nil }
        if var inquiry = open.removeValue(forKey: number) {
            add(&inquiry.outcome)
            open[number] = inquiry
        }
        return ended(number)
    }

    /// Returns the inquiries that waited for nothing but this link's report.
    mutating func lost(_ link: UInt64) -> [Inquiry] {
        open.keys.sorted().compactMap { number in
            guard open[number]?.waiting.remove(link) != nil else { return nil }
            return ended(number)
        }
    }

    /// The inquiry if all it waited for has come.
    mutating func ended(_ number: UInt64) -> Inquiry? {
        open[number]?.waiting.isEmpty == true ? open.removeValue(forKey: number) : nil
    }

    /// Its time is over. Returns nil if it has ended before.
    mutating func expire(_ number: UInt64) -> Inquiry? { open.removeValue(forKey: number) }
}

/// What operators have asked for.
typealias BanInquiries = Inquiries<Ban, BanOutcome>

extension BanInquiries {
    /// Returns the ban as the links get it; its number is that of the inquiry.
    mutating func begin(
        _ ban: Ban, before: Ban?, asking links: [UInt64], for link: UInt64, _ request: UInt64
    ) -> Ban {
        var numbered = ban
        let outcome = BanOutcome(asked: UInt32(links.count), before: before)
        numbered.number = begin(ban, outcome, asking: links, for: link, request)
        return numbered
    }

    mutating func take(_ report: BanReport, from link: UInt64) -> Inquiry? {
        take(report.number, from: link) { $0.add(report) }
    }
}

extension BanOutcome {
    fileprivate mutating func add(_ report: BanReport) {
        answered += 1
        isAppKnown = isAppKnown || report.isAppKnown
        sessions += report.sessions
    }
}

/// What gateways have asked.
typealias EdgeInquiries = Inquiries<EdgesAsked, [ByteBuffer]>

/// To how many links a question went. Storage doesn't read the question, or the answers.
struct EdgesAsked: Equatable {
    let count: Int
}
