import NIOCore
import RTMServiceKit
import Testing

@testable import RTMMessagingServer

/// One test for each arrow of the diagram in docs/decisions/0016-the-journal.md.
@Suite("The arrows of a shard's leadership") struct LeadershipArrowTests {
    @Test("an event leads from a state to the next one", arguments: Arrow.all)
    func arrow(_ arrow: Arrow) {
        var leadership = arrow.from.leadership
        #expect(Stage(leadership.state) == arrow.from)
        _ = arrow.event(&leadership)
        #expect(Stage(leadership.state) == arrow.to)
    }

    @Test("the diagram in the decision has these arrows and no others")
    func diagram() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let text = try TextFile.read("/\(root)/docs/decisions/0016-the-journal.md")
        let drawn = text.split(separator: "\n").filter { $0.contains(" --> ") }
            .map { String($0.drop { $0 == " " }) }
        #expect(drawn.sorted() == Arrow.all.map(\.description).sorted())
    }
}

/// The states of the diagram. `readingAhead` is `recovering` while another node leads.
enum Stage: String {
    case follower, candidate, readingAhead, recovering, confirming, serving, draining, transferring
    case replaced, comparing, emptying, startingAnew, stopped

    init(_ state: ShardLeadership.State) {
        self =
            switch state {
            case .follower: .follower
            case .candidate: .candidate
            case .recovering(isAhead: true): .readingAhead
            case .recovering(isAhead: false): .recovering
            case .confirming: .confirming
            case .leader(.serving): .serving
            case .leader(.draining): .draining
            case .leader(.transferring): .transferring
            case .leader(.replaced): .replaced
            case .rebuilding(_, .comparing): .comparing
            case .rebuilding(_, .emptying): .emptying
            case .rebuilding(_, .startingAnew): .startingAnew
            case .stopped: .stopped
            }
    }

    /// A node in this state at the time 0. As the leader it has the token 5 and nine batches.
    var leadership: ShardLeadership {
        let before: Stage? =
            switch self {
            case .follower: nil
            case .candidate, .stopped: .follower
            case .readingAhead, .recovering: .candidate
            case .confirming, .startingAnew: .recovering
            case .serving: .confirming
            case .draining, .replaced, .comparing: .serving
            case .transferring: .draining
            case .emptying: .comparing
            }
        guard var it = before?.leadership else {
            return ShardLeadership(
                JournalLimits(lease: 1_000, retention: 1_000_000, bytesMax: .max, backlogMax: .max))
        }
        switch self {
        case .follower: break
        case .candidate: _ = it.timePassed(now: 0, random: 5)
        case .readingAhead: _ = it.leadershipRequestAnswered(.successor(of: 8, .first, last: 9), now: 0)
        case .recovering: _ = it.leadershipRequestAnswered(.given(last: 9), now: 0)
        case .confirming: _ = it.pageRead([(9, 1)], hasHeads: true, now: 0, random: 6)
        case .serving: _ = it.appendAnswered(.renewal, .done, now: 0, random: 6)
        case .draining:
            _ = it.transferRequested(to: "b", isLast: false, now: 0)
            _ = it.offerAnswered(to: "b", under: 5, 9, now: 0)
        case .transferring: _ = it.transferAnswered(.done, now: 0, random: 7)
        case .replaced: _ = it.appendAnswered(.renewal, .ended(term: 9), now: 0, random: 7)
        case .comparing: _ = it.appendAnswered(.renewal, .doubt, now: 0, random: 7)
        case .emptying: _ = it.reinstatementAnswered(.done(last: 3, term: 2), now: 0, random: 8)
        case .startingAnew: _ = it.pageUnreadable(now: 0)
        case .stopped: it.stop()
        }
        return it
    }
}

/// One arrow: in this state this event leads to that state.
struct Arrow: CustomStringConvertible, Sendable {
    let from: Stage
    let to: Stage
    let name: String
    let event: @Sendable (inout ShardLeadership) -> [LeadershipAction]

    init(
        _ from: Stage, _ to: Stage, _ name: String,
        _ event: @escaping @Sendable (inout ShardLeadership) -> [LeadershipAction]
    ) {
        (self.from, self.to, self.name, self.event) = (from, to, name, event)
    }

    var description: String { "\(from.rawValue) --> \(to.rawValue): \(name)" }

    static let all = election + recovery + serving + transfer + rebuilding + ends

    private static let election = [
        Arrow(.follower, .candidate, "the election delay is over") { $0.timePassed(now: 0, random: 5) },
        Arrow(.candidate, .follower, "another node leads") {
            $0.leadershipRequestAnswered(.held(by: "b", term: 1, last: 0), now: 0)
        },
        Arrow(.candidate, .follower, "there is no journal yet") {
            $0.leadershipRequestAnswered(.empty, now: 0)
        },
        Arrow(.candidate, .follower, "the journal has another layout") {
            $0.leadershipRequestAnswered(.otherLayout("4 shards"), now: 0)
        },
        Arrow(.candidate, .follower, "Redis could not be asked") { $0.leadershipRequestFailed(now: 0) },
        Arrow(.candidate, .follower, "the successor has read everything") {
            $0.leadershipRequestAnswered(.successor(of: 8, .first, last: 0), now: 0)
        },
        Arrow(.candidate, .readingAhead, "the leader has named this node") {
            $0.leadershipRequestAnswered(.successor(of: 8, .first, last: 9), now: 0)
        },
        Arrow(.candidate, .recovering, "Redis gives the leadership") {
            $0.leadershipRequestAnswered(.given(last: 9), now: 0)
        },
        Arrow(.candidate, .serving, "Redis gives the leadership and nothing is left to read") {
            $0.leadershipRequestAnswered(.given(last: 0), now: 0)
        },
        Arrow(.candidate, .startingAnew, "the journal is not whole") {
            $0.leadershipRequestAnswered(.granted(.first, last: 9, isWhole: false, after: 0), now: 0)
        },
    ]

    private static let recovery = [
        Arrow(.readingAhead, .readingAhead, "a page was read") {
            $0.pageRead([(1, 1)], hasHeads: true, now: 0, random: 6)
        },
        Arrow(.readingAhead, .candidate, "everything was read") {
            $0.pageRead([(9, 1)], hasHeads: true, now: 0, random: 6)
        },
        Arrow(.readingAhead, .candidate, "a report to the leader is due") {
            $0.pageRead([(1, 1)], hasHeads: true, now: 250, random: 6)
        },
        Arrow(.readingAhead, .follower, "a batch is missing or unreadable") { $0.pageUnreadable(now: 0) },
        Arrow(.readingAhead, .follower, "Redis does not answer") {
            $0.pageRead(nil, hasHeads: false, now: 0, random: 6)
        },
        Arrow(.recovering, .recovering, "a page was read") {
            $0.pageRead([(1, 1)], hasHeads: true, now: 0, random: 6)
        },
        Arrow(.recovering, .recovering, "a batch was cut off and reading begins again") {
            _ = $0.pageRead([(1, 1)], hasHeads: true, now: 0, random: 6)
            return $0.pageRead([(8, 1)], hasHeads: true, now: 0, random: 6)
        },
        Arrow(.recovering, .confirming, "everything was read") {
            $0.pageRead([(9, 1)], hasHeads: true, now: 0, random: 6)
        },
        Arrow(.recovering, .startingAnew, "a batch is missing or unreadable") { $0.pageUnreadable(now: 0) },
        Arrow(.recovering, .startingAnew, "no batch has the heads") {
            $0.pageRead([(9, 1)], hasHeads: false, now: 0, random: 6)
        },
        Arrow(.recovering, .follower, "Redis does not answer") {
            $0.pageRead(nil, hasHeads: false, now: 0, random: 6)
        },
        Arrow(.recovering, .follower, "another node leads") {
            $0.appendAnswered(.renewal, .ended(term: 9), now: 0, random: 6)
        },
        Arrow(.confirming, .serving, "Redis is the same server") {
            $0.appendAnswered(.renewal, .done, now: 0, random: 6)
        },
        Arrow(.confirming, .follower, "Redis is another server") {
            $0.appendAnswered(.renewal, .doubt, now: 0, random: 6)
        },
        Arrow(.confirming, .follower, "another node leads") {
            $0.appendAnswered(.renewal, .ended(term: 9), now: 0, random: 6)
        },
    ]

    private static let serving = [
        Arrow(.serving, .serving, "a batch was written") {
            $0.appendAnswered(.renewal, .done, now: 0, random: 6)
        },
        Arrow(.serving, .serving, "the successor does not read and the offer is withdrawn") {
            _ = $0.transferRequested(to: "b", isLast: false, now: 0)
            return $0.timePassed(now: 1_000, random: 6)
        },
        Arrow(.serving, .draining, "the successor has caught up") {
            _ = $0.transferRequested(to: "b", isLast: false, now: 0)
            return $0.offerAnswered(to: "b", under: 5, 9, now: 0)
        },
        Arrow(.serving, .draining, "any node may lead") {
            $0.transferRequested(to: "", isLast: true, now: 0)
        },
        Arrow(.serving, .replaced, "another node leads") {
            $0.appendAnswered(.renewal, .ended(term: 9), now: 0, random: 6)
        },
        Arrow(.serving, .comparing, "Redis may have lost something") {
            $0.appendAnswered(.renewal, .doubt, now: 0, random: 6)
        },
        Arrow(.serving, .serving, "a later term is reported, and the master is looked for") {
            _ = $0.laterTermReported(9, now: 0)
            return $0.timePassed(now: 999, random: 6)
        },
        Arrow(.serving, .serving, "a later term was reported, and Redis does not answer") {
            _ = $0.laterTermReported(9, now: 0)
            _ = $0.timePassed(now: 500, random: 6)
            return $0.timePassed(now: 1_000, random: 6)
        },
        Arrow(.serving, .startingAnew, "a later term was reported a lease ago") {
            _ = $0.laterTermReported(9, now: 0)
            _ = $0.timePassed(now: 500, random: 6)
            _ = $0.appendAnswered(.renewal, .done, now: 501, random: 6)
            return $0.timePassed(now: 1_000, random: 6)
        },
        Arrow(.serving, .comparing, "Redis has an earlier term") {
            $0.appendAnswered(.renewal, .ended(term: 1), now: 0, random: 6)
        },
    ]

    private static let transfer = [
        Arrow(.draining, .serving, "Redis is too slow") {
            var it = Stage.serving.leadership
            _ = it.recorded(ByteBuffer(string: "a"), now: 0)
            _ = it.transferRequested(to: "b", isLast: false, now: 0)
            _ = it.offerAnswered(to: "b", under: 5, 9, now: 0)
            $0 = it
            return $0.timePassed(now: 1_000, random: 6)
        },
        Arrow(.draining, .transferring, "the successor may lead") {
            $0.transferAnswered(.done, now: 0, random: 7)
        },
        Arrow(.draining, .transferring, "Redis does not answer") {
            $0.transferAnswered(.unknown, now: 0, random: 7)
        },
        Arrow(.draining, .follower, "another node leads") {
            $0.transferAnswered(.ended(term: 9), now: 0, random: 7)
        },
        Arrow(.draining, .follower, "any node may lead") {
            $0 = Stage.serving.leadership
            _ = $0.transferRequested(to: "", isLast: true, now: 0)
            return $0.transferAnswered(.done, now: 0, random: 7)
        },
        Arrow(.draining, .comparing, "Redis has lost something") {
            $0.transferAnswered(.lost, now: 0, random: 7)
        },
        Arrow(.transferring, .transferring, "the successor does not lead yet") {
            $0.transferAnswered(.done, now: 999, random: 7)
        },
        Arrow(.transferring, .follower, "the successor leads") {
            $0.transferAnswered(.ended(term: 9), now: 0, random: 7)
        },
        Arrow(.transferring, .follower, "the process ends and any node may lead") {
            $0 = Stage.serving.leadership
            _ = $0.transferRequested(to: "b", isLast: true, now: 0)
            _ = $0.offerAnswered(to: "b", under: 5, 9, now: 0)
            _ = $0.transferAnswered(.done, now: 0, random: 7)
            _ = $0.transferAnswered(.done, now: 1_000, random: 7)
            return $0.transferAnswered(.done, now: 1_000, random: 7)
        },
        Arrow(.transferring, .comparing, "the successor does not come within a lease") {
            $0.transferAnswered(.done, now: 1_000, random: 7)
        },
        Arrow(.transferring, .comparing, "Redis has lost something for a lease") {
            _ = $0.transferAnswered(.lost, now: 0, random: 7)
            return $0.transferAnswered(.lost, now: 1_000, random: 7)
        },
        Arrow(.replaced, .replaced, "another node leads for less than a lease") {
            $0.transferAnswered(.ended(term: 9), now: 999, random: 7)
        },
        Arrow(.replaced, .follower, "another node leads for a lease") {
            $0.transferAnswered(.ended(term: 9), now: 1_000, random: 7)
        },
        Arrow(.replaced, .comparing, "Redis has lost something for a lease") {
            _ = $0.transferAnswered(.lost, now: 0, random: 7)
            return $0.transferAnswered(.lost, now: 1_000, random: 7)
        },
    ]

    private static let rebuilding = [
        Arrow(.comparing, .serving, "Redis has lost nothing") {
            $0.reinstatementAnswered(.done(last: 9, term: 2), now: 0, random: 8)
        },
        Arrow(.comparing, .serving, "Redis is empty and the checkpoint begins") {
            $0.reinstatementAnswered(.done(last: 0, term: 2), now: 0, random: 8)
        },
        Arrow(.comparing, .emptying, "Redis lacks a batch") {
            $0.reinstatementAnswered(.done(last: 3, term: 2), now: 0, random: 8)
        },
        Arrow(.comparing, .startingAnew, "another node has written something") {
            $0.reinstatementAnswered(.forked(term: 2), now: 0, random: 8)
        },
        Arrow(.comparing, .replaced, "another node leads") {
            $0.reinstatementAnswered(.ended, now: 0, random: 8)
        },
        Arrow(.comparing, .follower, "another node leads and was silent for a lease") {
            _ = $0.reinstatementAnswered(.ended, now: 0, random: 8)
            _ = $0.transferAnswered(.lost, now: 0, random: 7)
            _ = $0.transferAnswered(.lost, now: 1_000, random: 7)
            return $0.reinstatementAnswered(.ended, now: 1_000, random: 8)
        },
        Arrow(.emptying, .serving, "Redis is empty and the checkpoint begins") {
            $0.reinstatementAnswered(.done(last: 0, term: 2), now: 0, random: 8)
        },
        Arrow(.emptying, .replaced, "another node leads") {
            $0.reinstatementAnswered(.ended, now: 0, random: 8)
        },
        Arrow(.startingAnew, .serving, "the new journal has begun") {
            $0.reinstatementAnswered(.done(last: 0, term: 2), now: 0, random: 8)
        },
        Arrow(.startingAnew, .follower, "another node leads") {
            $0.reinstatementAnswered(.ended, now: 0, random: 8)
        },
    ]

    /// Any other state ends in the same way.
    private static let ends = [Stage.follower, .serving].map { from in
        Arrow(from, .stopped, "the process ends") {
            $0.stop()
            return []
        }
    }
}

extension JournalTerm {
    fileprivate static let first = JournalTerm(term: 1, epoch: 2, secret: 3)
}

extension JournalAnswer.LeadershipRequest {
    fileprivate static func given(last: UInt64) -> Self {
        .granted(.first, last: last, isWhole: true, after: 0)
    }
}

extension JournalAppend {
    fileprivate static let renewal = JournalAppend(
        leaderToken: 5, number: 9, bytes: ByteBuffer(), oldestKept: 9, isWhole: true)
}
