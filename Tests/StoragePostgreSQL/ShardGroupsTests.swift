import Testing

@testable import RTMStoragePostgreSQL

@Suite("What an owner knows of its groups")
struct ShardGroupsTests {
    private func owner(after last: Int64) -> ShardGroups {
        var groups = ShardGroups()
        groups.take(term: 7)
        groups.begin(after: last)
        return groups
    }

    @Test("a group in doubt was kept if it is the last one of the database, and was not if the one before is")
    func settled() {
        for (found, settlement): (Int64, ShardGroups.Settlement) in [(13, .kept), (12, .notKept)] {
            var groups = owner(after: 11)
            groups.keep()
            groups.forgetLast()
            groups.take(term: 8)
            #expect(groups.settle(found) == settlement)
            #expect(groups.term == 8 && groups.last == found && groups.next == found + 1)
            #expect(groups.isLastKnown)
        }
    }

    @Test("D-18: a server that lacks an earlier group settles nothing, and the owner begins anew")
    func wentBackInDoubt() {
        var groups = owner(after: 12)
        groups.forgetLast()
        #expect(groups.settle(11) == .wentBack)
        #expect(!groups.isLastKnown)
        // Until then no connection is judged by what was in the other server.
        let isJudged = !groups.isComplete(11)
        #expect(!isJudged)
        groups.take(term: 9)
        groups.begin(after: 11)
        #expect(groups.next == 12 && groups.isLastKnown)
    }

    @Test("D-18: behind a new connection a server counts as another one if it lacks a group")
    func wentBackBetweenGroups() {
        var groups = owner(after: 12)
        let isComplete = groups.isComplete(12)
        #expect(isComplete && groups.isLastKnown)
        groups.keep()
        let isStillComplete = groups.isComplete(12)
        #expect(!isStillComplete && !groups.isLastKnown)
    }

    @Test("while a term is being taken there is nothing that a server could lack")
    func takingATerm() {
        var groups = ShardGroups()
        #expect(groups.term == 0 && groups.next == 1)
        let isComplete = groups.isComplete(0)
        groups = owner(after: 5)
        groups.forgetLast()
        let isStillComplete = groups.isComplete(0)
        #expect(isComplete && isStillComplete)
    }
}
