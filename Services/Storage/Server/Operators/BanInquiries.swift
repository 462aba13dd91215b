import RTMWire

/// What operators have asked for and edges have not all reported on yet. Pure: it holds the ids of links.
struct BanInquiries {
    /// Limit: commands of operators at a time. One more is refused.
    static let countMax = 64

    struct Inquiry: Equatable {
        let ban: Ban
        /// The link of the operator's program, and its request.
        let link: UInt64
        let request: UInt64
        /// The links that have not reported.
        var waiting: Set<UInt64>
        var outcome: BanOutcome
    }

    private var open: [UInt64: Inquiry] = [:]
    private var lastNumber: UInt64 = 0

    var isFull: Bool { open.count >= Self.countMax }

    /// Returns the ban as the links get it; its number is that of the inquiry.
    mutating func begin(
        _ ban: Ban, before: Ban?, asking links: [UInt64], for link: UInt64, _ request: UInt64
    ) -> Ban {
        lastNumber += 1
        var numbered = ban
        numbered.number = lastNumber
        open[lastNumber] = Inquiry(
            ban: ban, link: link, request: request, waiting: Set(links),
            outcome: BanOutcome(asked: UInt32(links.count), before: before))
        return numbered
    }

    /// Returns the inquiry if this was the last report that it waited for.
    mutating func take(_ report: BanReport, from link: UInt64) -> Inquiry? {
        guard open[report.number]?.waiting.remove(link) != nil else { return nil }
        open[report.number]?.outcome.add(report)
        return ended(report.number)
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

extension BanOutcome {
    fileprivate mutating func add(_ report: BanReport) {
        answered += 1
        isAppKnown = isAppKnown || report.isAppKnown
        sessions += report.sessions
    }
}
