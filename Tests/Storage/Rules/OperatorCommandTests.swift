import RTMModel
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

    @Test("S-4: a ban lasts exactly its duration; without one it has no times")
    func times() {
        let ban = Ban(
            .init(app: "dev", user: "bob", duration: .seconds(600)), now: 5_000, endsSession: true, by: "")
        #expect(ban.sinceMilliseconds == 5_000 && ban.untilMilliseconds == 605_000)
        let kick = Ban(.init(app: "dev", user: "bob"), now: 5_000, endsSession: true, by: "")
        #expect(kick.sinceMilliseconds == 0 && kick.untilMilliseconds == 0)
    }

    @Test("S-4: an operator without a name in the environment has that of the account, or the number")
    func operatorName() {
        #expect(OperatorText.name(["SUDO_USER": "", "USER": "ann"], account: "root", number: 0) == "ann")
        #expect(OperatorText.name(["USER": ""], account: "root", number: 0) == "root")
        #expect(OperatorText.name([:], account: nil, number: 70) == "uid 70")
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

    @Test("S-4: an edge gets no list before the store has said who is shut out, and its end once")
    func incomplete() {
        var list = BanList(isComplete: false)
        list.asked(isQueued: false)
        #expect(list.isToBeListed)
        list.asked(isQueued: true)
        #expect(!list.isToBeListed)
        list.notListed()
        #expect(list.isToBeListed)
        list.asked(isQueued: true)
        list.take(Ban(appID: "a", userID: "bob", untilMilliseconds: 5, endsSession: true), nowMilliseconds: 0)
        #expect(list.announcement.isEmpty)
        var isNews = list.listed()
        #expect(isNews && list.announcement.map(\.userID) == ["bob", ""])
        isNews = list.listed()
        #expect(!isNews)
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

    // MARK: - What edges report

    private let ban = Ban(appID: "dev", userID: "bob", endsSession: true)

    @Test("W-23: an inquiry ends with the last report, with the loss of the last link, or with its time")
    func inquiries() {
        var inquiries = BanInquiries()
        let number = inquiries.begin(ban, before: nil, asking: [1, 2, 3], for: 9, 7).number
        func report(_ sessions: UInt32, known: Bool) -> BanReport {
            BanReport(number: number, isAppKnown: known, sessions: sessions)
        }
        #expect(inquiries.take(report(1, known: true), from: 1) == nil)
        // A second report of the same link doesn't count, nor one of somebody who wasn't asked.
        #expect(inquiries.take(report(5, known: true), from: 1) == nil)
        #expect(inquiries.take(report(5, known: true), from: 8) == nil)
        #expect(inquiries.lost(2).isEmpty && inquiries.ended(number) == nil)
        let ended = inquiries.take(report(2, known: false), from: 3)
        #expect(ended?.link == 9 && ended?.request == 7)
        #expect(ended?.outcome == BanOutcome(asked: 3, answered: 2, isAppKnown: true, sessions: 3))
        #expect(inquiries.expire(number) == nil)

        let second = inquiries.begin(ban, before: ban, asking: [1], for: 9, 8).number
        #expect(second != number)
        #expect(inquiries.lost(1).map(\.outcome) == [BanOutcome(asked: 1, before: ban)])
        let third = inquiries.begin(ban, before: nil, asking: [1, 2], for: 9, 9).number
        #expect(inquiries.expire(third)?.outcome == BanOutcome(asked: 2))
        let fourth = inquiries.begin(ban, before: nil, asking: [], for: 9, 10).number
        #expect(inquiries.ended(fourth)?.outcome == BanOutcome())
        for _ in 0..<BanInquiries.countMax {
            #expect(!inquiries.isFull)
            _ = inquiries.begin(ban, before: nil, asking: [1], for: 9, 11)
        }
        #expect(inquiries.isFull)
    }

    // MARK: - What operators read

    private func answer(_ ban: Ban, _ outcome: BanOutcome) -> String {
        let answer = OperatorAnswer(ban: ban, outcome: outcome)
        return "\(answer.status.rawValue) \(answer.text)"
    }

    private let found = BanOutcome(asked: 2, answered: 2, isAppKnown: true, sessions: 1)
    private let absent = BanOutcome(asked: 2, answered: 2, isAppKnown: true)
    private let unknown = BanOutcome(asked: 2, answered: 2)

    @Test("W-23: a kick says how many sessions it ended, and why it ended none")
    func kick() {
        #expect(answer(ban, found) == "0 One session of the user \"bob\" of the app \"dev\" was ended.\n")
        #expect(answer(ban, absent) == "1 The user \"bob\" of the app \"dev\" was not logged in.\n")
        #expect(answer(ban, unknown) == "1 No edge knows the app \"dev\".\n")
        #expect(
            answer(ban, BanOutcome()) == "3 No edge is connected to storage, so no session was ended.\n")
        #expect(answer(ban, BanOutcome(asked: 2)).hasPrefix("3 No edge has answered"))
        var partial = found
        (partial.asked, partial.sessions) = (3, 2)
        #expect(
            answer(ban, partial) == "0 2 sessions of the user \"bob\" of the app \"dev\" were ended.\n"
                + "1 of 3 links to edges did not answer in time. Sessions there may still be open.\n")
    }

    @Test("W-23: a ban and its end say what held before, since when and by whom")
    func banned() {
        var banned = ban
        banned.untilMilliseconds = 1_000
        let text = answer(banned, found)
        #expect(
            text.hasPrefix(
                "0 The user \"bob\" of the app \"dev\" may not log in until 1970-01-01T00:00:01.000Z.\n"))
        #expect(
            answer(banned, unknown).hasPrefix("1 ") && answer(banned, unknown).contains("The ban is kept"))
        #expect(answer(banned, BanOutcome()).hasPrefix("0 "))
        let before = Ban(
            appID: "dev", userID: "bob", untilMilliseconds: 3_000, reason: "spam", endsSession: true,
            sinceMilliseconds: 2_000, by: "ann")
        let lifted = Ban(appID: "dev", userID: "bob", endsSession: false)
        #expect(
            answer(lifted, BanOutcome(before: before))
                == "0 The user \"bob\" of the app \"dev\" may log in again. The ban of 1970-01-01T00:00:02.000Z "
                + "by ann (spam) was to end at 1970-01-01T00:00:03.000Z.\n")
        #expect(answer(lifted, BanOutcome()) == "1 The user \"bob\" of the app \"dev\" was not banned.\n")
        #expect(
            OperatorAnswer.list([before], asJSON: false)
                == "dev/bob  since 1970-01-01T00:00:02.000Z  until 1970-01-01T00:00:03.000Z  by ann  spam\n")
        #expect(OperatorAnswer.list([], asJSON: false) == "Nobody is banned.\n")
        #expect(OperatorAnswer.list([], asJSON: true) == "[]\n")
        #expect(
            OperatorAnswer(ban: lifted, outcome: BanOutcome(before: before)).json
                == #"{"command":"unban","app":"dev","user":"bob","appKnown":null,"sessionsEnded":0,"#
                + #""linksAsked":0,"linksAnswered":0,"before":{"app":"dev","user":"bob","#
                + #""since":"1970-01-01T00:00:02.000Z","until":"1970-01-01T00:00:03.000Z","#
                + #""by":"ann","reason":"spam"}}"# + "\n")
    }

    @Test("the name of an operator and a reason are bounded")
    func bounds() {
        var long = ban
        long.reason = String(repeating: "x", count: OperatorText.reasonBytesMax + 1)
        #expect(throws: RTMError.self) { try OperatorText.check(long) }
        long = ban
        long.by = String(repeating: "x", count: OperatorText.byBytesMax + 1)
        #expect(throws: RTMError.self) { try OperatorText.check(long) }
        #expect(throws: Never.self) { try OperatorText.check(ban) }
    }
}
