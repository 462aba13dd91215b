import RTMModel
import RTMTestSupport
import Testing

@testable import RTMPresenceServer

@Suite("The members of a roster")
struct RosterMembersTests {
    @Test(
        "members agree with a dictionary, with indexes and without",
        arguments: [3, RosterMembers.searchedMax + 2, 100], 1...5)
    func model(users: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var members = RosterMembers()
        var model: [String: Roster.Member] = [:]
        for step in 0..<2_000 {
            let user = "u\(Int.random(in: 0..<users, using: &random))"
            let member = random.chance(6, in: 10) ? self.member(user, &random) : nil
            members[user] = member
            model[user] = member
            #expect(members.count == model.count && members.isEmpty == model.isEmpty, "step \(step)")
            #expect(members[user]?.phase == model[user]?.phase, "step \(step)")
            let listed = model.values.filter { !$0.entry.isQuiet && !$0.isLeaving }.map(\.entry.user).sorted()
            #expect(members.listedCount == listed.count, "step \(step)")
            let countMax = Int.random(in: 0...5, using: &random)
            #expect(
                members.names(after: user, countMax: countMax)
                    == Array(listed.filter { $0 > user }.prefix(countMax)), "step \(step)")
            #expect(members.names(after: nil, countMax: .max) == listed, "step \(step)")
        }
        #expect(Set(members.all.map(\.entry.user)) == Set(model.keys))
    }

    private func member(_ user: String, _ random: inout SeededGenerator) -> Roster.Member {
        let phases: [Roster.Phase] = [.online, .away(until: 5), .leaving(until: 5, hadStates: false)]
        return Roster.Member(
            entry: .of(user, quiet: random.chance(2, in: 10)), phase: phases.randomElement(using: &random)!)
    }
}
