import Testing

@testable import rtm

@Suite("What rtm verify finds")
struct VerifyTests {
    /// Two clients, of which the first publishes three messages and the second receives them.
    private let sound: [VerifyEvent] = [
        .received(client: 1, channel: 0, message: 1, offset: 5),
        .published(client: 0, channel: 0, message: 1, .done),
        .published(client: 0, channel: 0, message: 2, .unknown),
        .published(client: 0, channel: 0, message: 3, .refused),
        .published(client: 0, channel: 0, message: 4, .done),
        .received(client: 1, channel: 0, message: 4, offset: 9),
        .compared(client: 0, revision: 1, .done), .compared(client: 1, revision: 1, .refused),
        .compared(client: 1, revision: 2, .done), .compared(client: 0, revision: 3, .unknown),
        .acquired(client: 0, fencingToken: 3), .released(client: 0, fencingToken: 3),
        .acquired(client: 1, fencingToken: 4), .released(client: 1, fencingToken: 4),
        .announced(isEntry: true, after: .milliseconds(3)),
        .announced(isEntry: false, after: .milliseconds(2_100)), .counted(2),
    ]

    private func violations(_ history: [VerifyEvent]) -> [VerifyCheck.Violation] {
        VerifyCheck(clients: 2, history).violations
    }

    /// The sound history with one more event, or with one in place of another.
    private func violations(
        with event: VerifyEvent, replacing old: VerifyEvent? = nil
    ) -> [VerifyCheck.Violation] {
        guard let old else { return violations(sound + [event]) }
        return violations(sound.map { $0 == old ? event : $0 })
    }

    @Test("a history in which every promise was kept")
    func kept() {
        let check = VerifyCheck(clients: 2, sound)
        #expect(check.violations.isEmpty)
        #expect(check.summary.published == 4 && check.summary.received == 2)
        #expect(check.summary.slowestAnnouncement == .milliseconds(2_100))
        // The counter may have one more, because the outcome of one write is unknown.
        #expect(violations(with: .counted(3), replacing: .counted(2)).isEmpty)
        // So may a message whose outcome is unknown have been published.
        #expect(violations(with: .received(client: 1, channel: 0, message: 2, offset: 11)).isEmpty)
    }

    @Test("a lost message, unless a gap was told")
    func lost() {
        let lost: [VerifyEvent] = sound.filter {
            $0 != .received(client: 1, channel: 0, message: 4, offset: 9)
        }
        #expect(violations(lost) == [.lost(client: 1, channel: 0, message: 4)])
        #expect(violations(lost + [.gap(client: 1, channel: 0)]).isEmpty)
        #expect(
            violations(lost + [.gap(client: 1, channel: 1), .gap(client: 0, channel: 0)])
                == [.lost(client: 1, channel: 0, message: 4)])
    }

    @Test("messages that come twice, in another order, or from nowhere")
    func messages() {
        #expect(
            violations(with: .received(client: 1, channel: 0, message: 1, offset: 12))
                == [
                    .repeated(client: 1, channel: 0, message: 1),
                    .disordered(client: 1, channel: 0, message: 1),
                ])
        #expect(
            violations(with: .received(client: 1, channel: 0, message: 2, offset: 7))
                == [.disordered(client: 1, channel: 0, message: 2)])
        #expect(
            violations(with: .received(client: 0, channel: 0, message: 4, offset: 10))
                == [.disordered(client: 0, channel: 0, message: 4)])
        #expect(
            violations(with: .received(client: 1, channel: 0, message: 3, offset: 12))
                == [.invented(client: 1, channel: 0, message: 3)])
        #expect(
            violations(with: .received(client: 1, channel: 2, message: 1, offset: 1))
                == [.invented(client: 1, channel: 2, message: 1)])
    }

    @Test("behind a gap the offsets may be those of another log")
    func otherLog() {
        let history: [VerifyEvent] = [
            .gap(client: 1, channel: 0), .published(client: 0, channel: 0, message: 5, .done),
            .received(client: 1, channel: 0, message: 5, offset: 1),
        ]
        #expect(violations(sound + history).isEmpty)
        #expect(
            violations(sound + history.dropFirst()) == [.disordered(client: 1, channel: 0, message: 5)])
    }

    @Test("updates that are lost, and a counter that is wrong")
    func counter() {
        let again = VerifyEvent.compared(client: 1, revision: 1, .done)
        #expect(
            violations(with: again, replacing: .compared(client: 1, revision: 2, .done))
                == [.lostUpdate(revision: 1)])
        #expect(
            violations(with: .counted(1), replacing: .counted(2))
                == [.miscounted(value: 1, atLeast: 2, atMost: 3)])
        #expect(
            violations(with: .counted(4), replacing: .counted(2))
                == [.miscounted(value: 4, atLeast: 2, atMost: 3)])
    }

    @Test("a lock with two owners, and a token that isn't greater")
    func lock() {
        let early = sound.filter { $0 != .released(client: 0, fencingToken: 3) }
        #expect(violations(early) == [.twoOwners(first: 0, second: 1)])
        #expect(
            violations(with: .acquired(client: 0, fencingToken: 4))
                == [.staleToken(client: 0, fencingToken: 4)])
        // Its release was lost with the link.
        #expect(violations(with: .acquired(client: 1, fencingToken: 4)).isEmpty)
    }

    @Test("somebody who comes or goes without a word")
    func presence() {
        #expect(violations(with: .announced(isEntry: true, after: nil)) == [.unannounced(isEntry: true)])
    }
}
