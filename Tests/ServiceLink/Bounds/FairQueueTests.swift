import Testing

@testable import RTMServiceLink

@Suite("What waits has its turn by app and by caller")
struct FairQueueTests {
    private var queue = FairQueue<String>(.init(perCaller: 3, perApp: 5, total: 8))

    private mutating func put(_ elements: String...) {
        // The app is the first letter, the caller the second.
        for element in elements {
            let (app, caller) = (String(element.prefix(1)), String(element.dropFirst().prefix(1)))
            let limit = queue.put(element, of: app, by: caller)
            #expect(limit == nil)
        }
    }

    private mutating func all() -> [String] {
        var all: [String] = []
        while let next = queue.first {
            let taken = queue.popFirst()
            #expect(taken == next)
            all.append(next)
        }
        return all
    }

    @Test("apps have their turns one after the other, and so have the callers of an app")
    mutating func turns() {
        put("ax1", "ax2", "ax3", "ay1", "bz1", "bz2", "cz1")
        let order = all()
        #expect(order == ["ax1", "bz1", "cz1", "ay1", "bz2", "ax2", "ax3"])
        #expect(queue.isEmpty)
        put("ax4")
        let last = all()
        #expect(last == ["ax4"])
    }

    @Test("one caller, one app and all together have limits, and others still have room")
    mutating func limits() {
        put("ax1", "ax2", "ax3")
        let ofCaller = queue.put("ax4", of: "a", by: "x")
        put("ay1", "ay2")
        let ofApp = queue.put("az1", of: "a", by: "z")
        put("bx1", "bx2", "bx3")
        let ofAll = queue.put("cx1", of: "c", by: "x")
        #expect([ofCaller, ofApp, ofAll] == [3, 5, 8])
        #expect(queue.count == 8)
        _ = queue.popFirst()
        put("cx1")
    }

    @Test("what isn't wanted now is passed over, and keeps its turn")
    mutating func wanted() {
        put("ax1", "ay1", "bx1", "cx1")
        let first = queue.popFirst { $0 == "ay1" || $0 == "cx1" }
        let second = queue.popFirst { $0 == "ay1" || $0 == "cx1" }
        let none = queue.popFirst { _ in false }
        #expect([first, second, none] == ["ay1", "cx1", nil])
        #expect(queue.hasWaiting(of: "a") && !queue.hasWaiting(of: "c"))
        let rest = all()
        #expect(rest == ["bx1", "ax1"])
    }
}
