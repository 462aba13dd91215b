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
