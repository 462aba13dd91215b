import NIOCore
import RTMServiceKit
import RTMWire
import Testing

@testable import RTMGatewayServer

@Suite("Which audit lines are kept") struct AuditBudgetTests {
    private let begin = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func kind(_ what: String, by: String = "key a") -> AuditBudget.Kind {
        AuditBudget.Kind(appID: "app", by: by, what: what)
    }

    @Test("W-31: what a key does too often is left out, and the next line that is kept says how often")
    func rate() {
        var budget = AuditBudget()
        func admit(_ kind: AuditBudget.Kind, after time: TimeAmount = .zero) -> UInt64? {
            let admitted = budget.admit(kind, now: begin + time)
            if admitted != nil { budget.ended() }
            return admitted
        }
        for _ in 0..<AuditBudget.rate.perSecond { #expect(admit(kind("PUT metadata")) == 0) }
        for _ in 0..<5 { #expect(admit(kind("PUT metadata")) == nil) }
        // Neither another kind nor another key is concerned.
        #expect(admit(kind("POST users ban")) == 0)
        #expect(admit(kind("PUT metadata", by: "key b")) == 0)
        #expect(admit(kind("PUT metadata"), after: .seconds(1)) == 5)
        #expect(admit(kind("PUT metadata"), after: .seconds(1)) == 0)
    }

    @Test("W-31: while storage doesn't answer, lines are left out, and counted")
    func pending() {
        var budget = AuditBudget()
        for number in 0..<AuditBudget.pendingMax { #expect(budget.admit(kind("\(number)"), now: begin) == 0) }
        #expect(budget.admit(kind("more"), now: begin) == nil)
        budget.ended()
        #expect(budget.admit(kind("more"), now: begin) == 1)
        #expect(budget.admit(kind("more"), now: begin) == nil)
    }

    @Test("long names are cut")
    func long() {
        let line = AuditLine(by: "key a", whom: String(repeating: "é", count: 1_000)).shortened
        #expect(line.by == "key a" && line.whom.utf8.count <= 258 && line.whom.hasPrefix("éé"))
    }
}
