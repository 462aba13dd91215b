import RTMWire

/// What the event loops of all edges have answered to one question, put together.
struct EdgeReports: Sendable {
    /// How many event loops were asked, and how many have answered in time.
    let asked: Int
    let answered: Int
    /// Ordered by user and session, or as `ordered` says.
    private(set) var sessions: [EdgeSession] = []
    private(set) var hasMore = false
    private(set) var total: UInt64 = 0
    /// For each channel that was asked about.
    private(set) var subscribers: [Int] = []
    /// What each event loop says that was asked for it.
    private(set) var explanations: [EdgeExplanation] = []
    /// What each event loop has measured, or that it measures another app.
    private(set) var tops: [EdgeTopFindings] = []

    init(_ answers: EdgeAnswers) {
        let arena = DecodeArena()
        var findings: [EdgeFindings] = []
        for answer in answers.answers {
            if let found = try? EdgeFindings(answer.findings.bytes, in: arena) { findings.append(found) }
        }
        (asked, answered) = (Int(answers.asked), findings.count)
        explanations = findings.compactMap(\.explanation)
            .sorted { ($0.node, $0.loop) < ($1.node, $1.loop) }
        tops = findings.compactMap(\.top)
        for found in findings {
            sessions += found.sessions
            hasMore = hasMore || found.hasMore
            total += found.total
            for (index, subscriber) in found.subscribers.enumerated() {
                if index == subscribers.count { subscribers.append(0) }
                subscribers[index] += Int(subscriber.count)
            }
        }
        sessions.sort { ($0.userID, $0.sessionID) < ($1.userID, $1.sessionID) }
    }

    /// With the sessions for which the most waits in front.
    func orderedByQueue() -> EdgeReports {
        var ordered = self
        ordered.sessions.sort {
            ($1.queuedBytes, $0.userID, $0.sessionID) < ($0.queuedBytes, $1.userID, $1.sessionID)
        }
        return ordered
    }

    /// Keeps the first sessions. Each event loop has named as many of its own.
    func first(_ limit: Int) -> EdgeReports {
        guard sessions.count > limit else { return self }
        var first = self
        first.sessions.removeLast(sessions.count - limit)
        first.hasMore = true
        return first
    }
}
