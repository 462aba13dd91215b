import RTMClient
import RTMTestKit

/// The program of Presence.md.
func presenceArticle(_ world: TestWorld, _ print: @escaping Printing) async throws {
    let alice = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "alice"))
    try await alice.login()
    try await alice.subscribe(to: "lobby")
    try await alice.setState(["mood": "curious"], in: "lobby")

    let bob = try RTMClient(.init(servers: [world.server], appID: world.appID, userID: "bob"))
    try await bob.login()
    try await bob.subscribe(to: "lobby")
    for await roster in bob.roster(of: "lobby") {
        guard roster.members.count == 2 else { continue }
        for (user, states) in roster.members.sorted(by: { $0.key < $1.key }) { print(user, states) }
        break
    }

    let rosters = bob.roster(of: "lobby")
    await alice.close()
    for await roster in rosters {
        for change in roster.changes {
            switch change {
            case .joined(let user): print(user, "has come")
            case .left(let user), .timedOut(let user): print(user, "has left")
            case .statesChanged(let user): print(user.userID, "shows", user.states)
            case .replaced, .cleared: print(roster.occupancy, "are here")
            }
        }
        if roster.members["alice"] == nil { break }
    }

    print(try await bob.whoNow(in: "lobby", includingUsers: false).total, "online")
    for try await user in bob.onlineUsers(in: "lobby", includingStates: true) { print(user.userID) }
    print(try await bob.whereNow("bob").map(\.name))
    await bob.close()
}
