import RTMServiceKit
import RTMWire
import Testing

@testable import RTMStorageServer

/// What operators ask of storage (S-4).
struct OperatorCommandTests {
    @Test("S-4: a user is named as APP/USER, for a ban with a duration")
    func arguments() throws {
        #expect(try OperatorCommands.user("dev/bob", parts: 2) == .init(app: "dev", user: "bob"))
        #expect(
            try OperatorCommands.user("dev/bob/10m", parts: 3)
                == .init(app: "dev", user: "bob", duration: .seconds(600)))
    }

    @Test("S-4: what names no user is refused", arguments: ["bob", "/bob", "dev/", "dev/bob/1m/2", "dev/é"])
    func mistakes(text: String) {
        #expect(throws: ServiceFailure.self) { try OperatorCommands.user(text, parts: 2) }
    }

    @Test("S-4: a duration is a number with a unit, and not zero", arguments: ["10", "m", "0s", "-1m", ""])
    func durations(text: String) {
        #expect(throws: ServiceFailure.self) { try OperatorCommands.user("dev/bob/\(text)", parts: 3) }
    }

    @Test("S-4: an edge hears all bans, and then one without a user")
    func list() {
        var list = BanList()
        #expect(list.announcement.map(\.userID) == [""])
        list.take(Ban(appID: "a", userID: "bob", untilMilliseconds: 5, endsSession: true), nowMilliseconds: 0)
        list.take(Ban(appID: "a", userID: "carol", endsSession: true), nowMilliseconds: 0)
        #expect(list.announcement.map(\.userID) == ["bob", ""])
        list.take(Ban(appID: "a", userID: "bob", endsSession: false), nowMilliseconds: 0)
        #expect(list.announcement.map(\.userID) == [""])
    }

    @Test("S-4: bans that have ended don't stay in memory")
    func ended() {
        var list = BanList()
        for number in 0..<BanList.countMaxAtFirst {
            list.take(
                Ban(appID: "a", userID: "bob\(number)", untilMilliseconds: 5, endsSession: true),
                nowMilliseconds: 0)
        }
        list.take(
            Ban(appID: "a", userID: "carol", untilMilliseconds: 9, endsSession: true), nowMilliseconds: 5)
        #expect(list.count == 1)
    }
}
