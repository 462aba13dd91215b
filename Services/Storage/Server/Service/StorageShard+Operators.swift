import Logging
import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// Bans, and questions that gateways have for all edges (S-4, W-23).
extension StorageShard {
    /// How long edges may take to report what they found.
    private static let reportTime = TimeAmount.seconds(2)

    func ban(_ ban: Ban, _ call: StorageCall) throws {
        try NameRule.user.check(ban.userID.utf8)
        try OperatorText.check(ban)
        guard !inquiries.isFull else {
            throw RTMError(
                .storageOperationFailed, "\(BanInquiries.countMax) commands of operators are under way",
                retryAfter: .seconds(2),
                limit: .init(name: "commands of operators", value: UInt64(BanInquiries.countMax)))
        }
        try write(ban, call)
    }

    /// Every edge gets the ban, because nobody knows where the user is (S-4), and reports what it found.
    func ask(_ ban: Ban, _ before: Ban?, for request: UInt64, _ link: UInt64) {
        let edges = links.values.filter { !operators.contains($0.id) }
        let numbered = inquiries.begin(ban, before: before, asking: edges.map(\.id), for: link, request)
        push(numbered)
        if let inquiry = inquiries.ended(numbered.number) { return answer(inquiry) }
        edges.first?.eventLoop.assumeIsolated().scheduleTask(in: Self.reportTime) {
            if let inquiry = self.inquiries.expire(numbered.number) { self.answer(inquiry) }
        }
    }

    /// Keeps a change over HTTP in the audit trail of its app.
    func keep(_ request: KeepAudit, _ call: StorageCall) throws {
        try AuditTrail.check(request.line)
        try write(request, call)
    }

    /// Passes a gateway's question on to all edges, which report within the same time.
    func askEdges(_ question: EdgeQuestion, _ call: StorageCall) throws {
        guard !questions.isFull else {
            throw RTMError(
                .operationRateExceedLimitation, "\(EdgeInquiries.countMax) questions to edges are under way",
                retryAfter: .seconds(1),
                limit: .init(name: "questions to edges", value: UInt64(EdgeInquiries.countMax)))
        }
        let edges = links.values.filter { !operators.contains($0.id) }
        let number = questions.begin(
            EdgesAsked(count: edges.count), [], asking: edges.map(\.id), for: call.link.id, call.id)
        ByteBuffer(bytes: question.query.bytes).withUnsafeReadableBytes { query in
            let numbered = EdgeQuestion(number: number, query: WireText(query))
            for edge in edges { edge.push(StorageMethod.edgeQuestion, numbered) }
        }
        if let inquiry = questions.ended(number) { return answer(inquiry) }
        eventLoop.assumeIsolated().scheduleTask(in: Self.reportTime) {
            if let inquiry = self.questions.expire(number) { self.answer(inquiry) }
        }
    }

    func answer(_ inquiry: EdgeInquiries.Inquiry) {
        guard let link = links[inquiry.link] else { return }
        // The answers lie one behind the other while they are written.
        var all = ByteBuffer()
        for findings in inquiry.outcome { all.writeImmutableBuffer(findings) }
        all.withUnsafeReadableBytes { bytes in
            var start = 0
            let answers = inquiry.outcome.map { findings in
                defer { start += findings.readableBytes }
                let part = bytes[start..<start + findings.readableBytes]
                return EdgeAnswer(findings: WireText(UnsafeRawBufferPointer(rebasing: part)))
            }
            link.respond(
                to: inquiry.request,
                EdgeAnswers(asked: UInt32(inquiry.question.count), answers: answers))
        }
    }

    func push(_ ban: Ban) {
        var kept = ban
        kept.number = 0
        bans.take(kept, nowMilliseconds: WallClock.milliseconds())
        for link in links.values { link.push(StorageMethod.banned, ban) }
    }

    /// The line says who did what to whom, and why.
    func answer(_ inquiry: BanInquiries.Inquiry) {
        let (ban, outcome) = (inquiry.question, inquiry.outcome)
        var metadata: Logger.Metadata = [
            "command": "\(OperatorText.command(ban))", "app": "\(ban.appID)", "user": "\(ban.userID)",
            "by": "\(ban.by)", "reason": "\(ban.reason)",
            "appKnown": .stringConvertible(outcome.isAppKnown),
            "sessions": .stringConvertible(outcome.sessions),
            "unanswered": .stringConvertible(outcome.asked - outcome.answered),
        ]
        if ban.untilMilliseconds > 0 { metadata["until"] = "\(Timestamp.text(ban.untilMilliseconds))" }
        logger.notice("an operator's command", metadata: metadata)
        guard let link = links[inquiry.link] else { return }
        // Gateways keep lines of their own.
        if link.peerNode == OperatorCall.node {
            let line = KeepAudit(appID: ban.appID, line: OperatorText.auditLine(ban, outcome))
            _ = queues.writes.put(StorageWrite(line), mayOverfill: true)
        }
        link.respond(to: inquiry.request, outcome)
    }
}
