import RTMModel
import Testing

@testable import RTMClient

@Suite("How far the inbox has been seen")
struct InboxPositionTests {
    private var inbox = InboxPosition()

    @Test("a first login begins where the server says, and each later message counts once")
    mutating func first() {
        let lost = inbox.loggedIn("anna", position: .init(epoch: 7, offset: 40), hasGap: false)
        #expect(lost == nil)
        let accepted = accepts([41, 42, 42, 41, 40, 44])
        #expect(accepted == [41, 42, 44])
        #expect(inbox.seen == .init(epoch: 7, offset: 44))
    }

    @Test("S-19: after a reconnect what was missed is new, and what was seen isn't")
    mutating func resumed() {
        _ = inbox.loggedIn("anna", position: .init(epoch: 7, offset: 40), hasGap: false)
        _ = inbox.accepts(offset: 41)
        // The server may answer with the position that was asked for or with a later one. Either is on its
        // way.
        for offset in [41, 45] as [UInt64] {
            let gap = inbox.loggedIn("anna", position: .init(epoch: 7, offset: offset), hasGap: false)
            #expect(gap == nil)
        }
        let accepted = accepts([41, 42])
        #expect(accepted == [42])
    }

    @Test("what can't be continued is said as a gap, with both ends of it", arguments: [true, false])
    mutating func gap(_ isReported: Bool) {
        _ = inbox.loggedIn("anna", position: .init(epoch: 7, offset: 40), hasGap: false)
        let position = StreamPosition(epoch: isReported ? 7 : 8, offset: 90)
        let gap = inbox.loggedIn("anna", position: position, hasGap: isReported)
        #expect(gap?.channelType == .user && gap?.channelName == "anna")
        #expect(gap?.lastSeen == .init(epoch: 7, offset: 40) && gap?.continuesAfter == position)
        let accepted = accepts([90, 91])
        #expect(accepted == [91])
    }

    @Test("M-38: a new log is no gap for an inbox that had nothing, after a connection that ended in order")
    mutating func nothingLost() {
        _ = inbox.loggedIn("anna", position: .init(epoch: 7, offset: 40), hasGap: false)
        inbox.endedInOrder()
        var gap = inbox.loggedIn("anna", position: .init(epoch: 8, offset: 3), hasGap: true)
        #expect(gap == nil && inbox.seen == .init(epoch: 8, offset: 3))
        // The same over a connection that stands.
        gap = inbox.lost("anna", until: .init(epoch: 9, offset: 5), wasConnected: true)
        #expect(gap == nil && inbox.seen == .init(epoch: 9, offset: 5))
        let accepted = accepts([5, 6])
        #expect(accepted == [6])
        gap = inbox.lost("anna", until: .init(epoch: 10, offset: 0), wasConnected: true)
        #expect(gap?.lastSeen == .init(epoch: 9, offset: 6), "it has had a message")
    }

    @Test("M-38: what may have been accepted while the connection was silent is a gap, and so is a lost tail")
    mutating func mayBeLost() {
        _ = inbox.loggedIn("anna", position: .init(epoch: 7, offset: 40), hasGap: false)
        // The order of one connection says nothing of the next one.
        inbox.endedInOrder()
        _ = inbox.loggedIn("anna", position: .init(epoch: 7, offset: 41), hasGap: false)
        let silent = inbox.loggedIn("anna", position: .init(epoch: 8, offset: 3), hasGap: true)
        #expect(silent != nil)
        inbox.forget()
        _ = inbox.loggedIn("anna", position: .init(epoch: 8, offset: 40), hasGap: false)
        inbox.endedInOrder()
        let sameLog = inbox.loggedIn("anna", position: .init(epoch: 8, offset: 90), hasGap: true)
        #expect(sameLog != nil, "the log is the same, and has given up something for this user")
    }

    @Test("a session that the app ended is not continued")
    mutating func forgotten() {
        _ = inbox.loggedIn("anna", position: .init(epoch: 7, offset: 40), hasGap: false)
        inbox.forget()
        #expect(inbox.seen == nil)
        let lost = inbox.loggedIn("anna", position: .init(epoch: 8, offset: 1), hasGap: false)
        #expect(lost == nil)
    }

    private mutating func accepts(_ offsets: [UInt64]) -> [UInt64] {
        var accepted: [UInt64] = []
        for offset in offsets where inbox.accepts(offset: offset) { accepted.append(offset) }
        return accepted
    }
}
