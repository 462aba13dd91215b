import NIOCore
import RTMModel
import RTMWire

/// Answers what gateways ask an event loop about its sessions and subscriptions. Storage passes the questions
/// on, because it has a link to every loop (decision 0028).
final class GatewayQuestions {
    private let sessions: Sessions
    private let subscribing: Subscribing
    private let explanations: Explanations
    private let top: TopQuestions
    private let eventLoop: any EventLoop

    init(
        sessions: Sessions, subscribing: Subscribing, explanations: Explanations, top: TopQuestions,
        eventLoop: any EventLoop
    ) {
        self.sessions = sessions
        self.subscribing = subscribing
        self.explanations = explanations
        self.top = top
        self.eventLoop = eventLoop
    }

    func answer(_ query: EdgeQuery, _ answer: @escaping (EdgeFindings) -> Void) {
        if let question = query.explain {
            return explanations.explain(question, of: query.appID) {
                answer(EdgeFindings(explanation: $0))
            }
        }
        if let question = query.top {
            return top.answer(question, of: query.appID) { answer(EdgeFindings(top: $0)) }
        }
        let counts = query.channels.map {
            SubscriberCount(count: UInt32(subscribing.subscriberCount(of: $0)))
        }
        guard query.limit > 0 else { return answer(EdgeFindings(subscribers: counts)) }
        look(SessionScan(query)) { found in
            var findings = found
            findings.subscribers = counts
            answer(findings)
        }
    }

    private func look(_ begun: SessionScan, _ answer: @escaping (EdgeFindings) -> Void) {
        var scan = begun
        let found = scan.look(in: sessions) { subscribing.overview(of: $0, limit: 0).count }
        if let found { return answer(found) }
        eventLoop.assumeIsolated().execute { self.look(scan, answer) }
    }
}
