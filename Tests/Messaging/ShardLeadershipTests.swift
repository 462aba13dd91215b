import NIOCore
import RTMRedis
import RTMTestSupport
import Testing

@testable import RTMMessagingServer

/// The journal under everything that may happen to two nodes and to Redis, in virtual time.
@Suite("The leadership of a shard") struct ShardLeadershipTests {
    private static let limits = JournalLimits(
        lease: 1_000, retention: 1_000_000, bytesMax: .max, backlogMax: .max)

    @Test(
        "what left a leader is in the memory of every later one, in order, or the logs begin anew",
        arguments: series(of: 120))
    func history(seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        for _ in 0..<400 { world.step() }
        #expect(world.faults == [])
        world.calm()
        #expect(world.faults == [])
        #expect(world.leaders.count == 1, "there is a leader when all faults are over")
    }

    @Test("a leader whose lease is over resumes if no other node has become the leader")
    func lateRenewal() {
        var world = JournalWorld(seed: 1, Self.limits)
        world.nodes[1].sleepsUntil = .max
        world.run(for: 1_500)
        world.nodes[0].sleepsUntil = world.now + 5_000
        world.run(for: 6_000)
        #expect(world.leaders == [0] && world.terms == 1)
    }

    @Test("a leader writes everything before a transfer, and the successor needn't wait")
    func transfer() {
        var world = JournalWorld(seed: 3, Self.limits)
        world.nodes[1].leadership.electionDelay = 5_000
        world.nodes[1].sleepsUntil = 1_200
        world.run(for: 1_400)
        #expect(world.leaders == [0])
        world.publishAndTransfer(from: 0)
        world.run(for: 600)
        #expect(world.leaders == [1] && world.faults == [])
        #expect(world.nodes[1].memory == [1, 2], "what waited was written before the lease ended")
        #expect(world.sent == [1, 2])
    }

    @Test("a leader that waits too long for Redis ends the transfer and takes requests again")
    func slowRedis() {
        var leadership = ShardLeadership(Self.limits)
        _ = leadership.timePassed(now: 0, random: 5)
        let term = JournalTerm(term: 1, epoch: 2, secret: 3)
        _ = leadership.leadershipRequestAnswered(.granted(term, last: 0, isWhole: true, after: 0), now: 0)
        guard case .append(let append)? = leadership.recorded(ByteBuffer(string: "a"), now: 0).first else {
            Issue.record("no batch")
            return
        }
        #expect(
            leadership.transferRequested(to: "b", isLast: false, now: 10) == [
                .offerLeadership(leaderToken: 5, to: "b")
            ])
        #expect(leadership.offerAnswered(to: "b", under: 5, 0, now: 11) == [])
        #expect(leadership.timePassed(now: 1_010, random: 6) == [])
        #expect(leadership.timePassed(now: 1_011, random: 6) == [.resumeServing])
        #expect(leadership.appendAnswered(append, .done, now: 1_020, random: 7) == [.releaseOutput(1)])
    }

    @Test("a leader resumes when it can't transfer the leadership")
    func resuming() {
        var leadership = ShardLeadership(Self.limits)
        leadership.becomeLeader(at: 0)
        #expect(
            leadership.transferRequested(to: "b", isLast: false, now: 0) == [
                .offerLeadership(leaderToken: 5, to: "b")
            ])
        let transfer = LeadershipAction.transferLeadership(leaderToken: 5, last: 0, to: "b")
        #expect(leadership.offerAnswered(to: "b", under: 5, 0, now: 0) == [transfer])
        let reinstate = LeadershipAction.reinstate(leaderToken: 7, before: 5, empties: false, isWhole: false)
        #expect(leadership.transferAnswered(.lost, now: 1, random: 7) == [.resumeServing, reinstate])
        let answer = JournalAnswer.Reinstatement.done(last: 0, term: 2)
        guard
            case .announceTerm(let term)? = leadership.reinstatementAnswered(answer, now: 2, random: 8).first
        else {
            Issue.record("the later term isn't announced")
            return
        }
        #expect(term.term == 2 && term.lineage.terms == [1] && leadership.keepsLogs)
        #expect(
            leadership.transferRequested(to: "b", isLast: false, now: 2).count == 1, "it may be tried again")
    }

    @Test("a leader keeps what it has until its successor leads")
    func transferring() {
        var leadership = ShardLeadership(Self.limits)
        leadership.becomeLeader(at: 0)
        _ = leadership.transferRequested(to: "b", isLast: false, now: 0)
        let transfer = LeadershipAction.transferLeadership(leaderToken: 5, last: 0, to: "b")
        #expect(leadership.offerAnswered(to: "b", under: 5, 0, now: 0) == [transfer])
        #expect(
            leadership.transferAnswered(.done, now: 1, random: 7) == [
                .awaitSuccessor("another node is about to lead")
            ])
        #expect(leadership.timePassed(now: 2, random: 7) == [transfer])
        #expect(leadership.transferAnswered(.done, now: 3, random: 7) == [])
        #expect(leadership.timePassed(now: 4, random: 7) == [transfer])
        #expect(
            leadership.transferAnswered(.ended(term: 9), now: 5, random: 7) == [
                .stepDown("another node was asked to lead", closesLinks: false)
            ])
        #expect(!leadership.keepsLogs)
    }

    @Test("a leader that another node replaced keeps what it has for a lease")
    func replaced() {
        var leadership = ShardLeadership(Self.limits)
        leadership.becomeLeader(at: 0, last: 9)
        #expect(
            leadership.appendAnswered(.renewal(of: 5, last: 9), .ended(term: 9), now: 10, random: 6) == [
                .awaitSuccessor("another node leads")
            ])
        let ask = LeadershipAction.transferLeadership(leaderToken: 5, last: 9, to: "")
        for now in stride(from: 20 as UInt64, to: 1_010, by: 100) {
            #expect(leadership.timePassed(now: now, random: 6) == [ask])
            #expect(leadership.transferAnswered(.ended(term: 9), now: now, random: 7) == [])
        }
        #expect(leadership.timePassed(now: 1_010, random: 6) == [ask])
        #expect(
            leadership.transferAnswered(.ended(term: 9), now: 1_010, random: 7) == [
                .stepDown("another node leads", closesLinks: false)
            ])
        #expect(!leadership.keepsLogs)
    }

    @Test(
        "a leader resumes if the Redis in which another node replaced it was itself replaced by an older one")
    func replacedInLostRedis() {
        var leadership = ShardLeadership(Self.limits)
        leadership.becomeLeader(at: 0, last: 9)
        #expect(
            leadership.appendAnswered(.renewal(of: 5, last: 9), .ended(term: 9), now: 10, random: 6) == [
                .awaitSuccessor("another node leads")
            ])
        _ = leadership.timePassed(now: 20, random: 6)
        #expect(leadership.transferAnswered(.unknown, now: 900, random: 7) == [], "the connection was lost")
        _ = leadership.timePassed(now: 1_100, random: 6)
        #expect(
            leadership.transferAnswered(.lost, now: 1_100, random: 7) == [],
            "the other node may live and say so")
        _ = leadership.timePassed(now: 2_100, random: 6)
        #expect(
            leadership.transferAnswered(.lost, now: 2_100, random: 7)
                == [.resumeServing, .reinstate(leaderToken: 7, before: 5, empties: false, isWhole: false)])
        _ = leadership.reinstatementAnswered(.done(last: 9, term: 2), now: 2_110, random: 8)
        #expect(leadership.keepsLogs && leadership.writer?.written == 9)
    }

    @Test(
        "a Redis that gave another node the leadership and was replaced before the node knew of it loses no message",
        arguments: series(of: 120))
    func leadershipGivenUnknown(seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        world.publishTwice(at: world.leaders[0])
        world.run(for: 500)
        world.leadershipGivenUnknown()
        world.run(for: 25 * (seed % 4))
        world.lose(.restart)
        world.run(for: 8_000)
        #expect(world.faults == [] && world.leaders.count == 1)
        #expect(world.sent == [1, 2] && world.begun == 1, "no new logs")
    }

    @Test(
        "a Redis with earlier data, which nothing about the server shows: the leader that lives writes again",
        arguments: series(of: 50))
    func movedAddress(seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.hasSentinels = false
        world.run(for: 1_400)
        let leader = world.leaders[0]
        world.publishTwice(at: leader)
        world.run(for: 500)
        // It would lead at the earlier server, and callers would have to decide.
        world.nodes[1 - leader].sleepsUntil = world.now + 6_000
        world.failOver()
        world.run(for: 2_000)
        world.publishTwice(at: leader)
        world.run(for: 500)
        world.failOver()
        world.run(for: 8_000)
        #expect(world.faults == [] && world.leaders == [leader])
        #expect(world.sent == [1, 2, 3, 4] && world.begun == 1, "no new logs")
    }

    @Test("a leader doesn't wait for a successor that doesn't read: it resumes, or ends without it")
    func absentSuccessor() {
        var staying = ShardLeadership(Self.limits)
        staying.becomeLeader(at: 0, last: 9)
        _ = staying.transferRequested(to: "b", isLast: false, now: 0)
        #expect(staying.offerAnswered(to: "b", under: 5, 0, now: 1) == [])
        #expect(staying.timePassed(now: 500, random: 6).contains(.offerLeadership(leaderToken: 5, to: "b")))
        #expect(staying.offerAnswered(to: "b", under: 5, 0, now: 501) == [])
        #expect(
            !staying.timePassed(now: 1_000, random: 6).contains(.offerLeadership(leaderToken: 5, to: "b")))
        var ending = ShardLeadership(Self.limits)
        ending.becomeLeader(at: 0, last: 9)
        _ = ending.transferRequested(to: "b", isLast: true, now: 0)
        #expect(ending.offerAnswered(to: "b", under: 5, 0, now: 1) == [])
        _ = ending.timePassed(now: 1_000, random: 6)
        #expect(ending.state == .leader(.draining(awaitsRedis: false)))
        let transfer = LeadershipAction.transferLeadership(leaderToken: 5, last: 9, to: "")
        #expect(ending.appendAnswered(.renewal(of: 5, last: 9), .done, now: 1_001, random: 6) == [transfer])
        #expect(ending.transferAnswered(.done, now: 1_003, random: 7).count == 1)
    }

    /// What may happen to Redis during a transfer.
    enum Loss: CaseIterable { case restart, empty, flush, rollBack }

    @Test(
        "a Redis that loses its data during a transfer loses no message",
        arguments: Loss.allCases, series(of: 100))
    func lossDuringTransfer(loss: Loss, seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        world.keepSnapshot()
        world.publishAndTransfer(from: world.leaders[0])
        world.run(for: 25 * (seed % 20))
        world.lose(loss)
        world.run(for: 8_000)
        #expect(world.faults == [] && world.leaders.count == 1)
        #expect(world.sent == [1, 2] && world.begun == 1, "no new logs")
    }

    @Test(
        "a leader that is to end while Redis is refused waits for it, and no message is lost",
        arguments: Loss.allCases, series(of: 20))
    func endWithoutRedis(loss: Loss, seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        world.keepSnapshot()
        let leader = world.leaders[0]
        world.publishTwice(at: leader)
        world.run(for: 25 * (seed % 8))
        world.isRedisAway = true
        world.run(for: 25 * (seed % 5))
        world.end(leader, within: 20_000)
        world.run(for: 300 * seed)
        #expect(world.leaders == [leader], "it waits")
        world.lose(loss)
        world.isRedisAway = false
        world.run(for: 10_000)
        #expect(world.faults == [] && world.leaders == [1 - leader] && world.nodes[leader].hasEnded)
        #expect(world.sent == [1, 2] && world.begun == 1, "no new logs")
    }

    @Test("a leader whose Redis never comes back ends two seconds before its process has to")
    func endAlone() {
        var stepDown = GracefulStepDown(within: 20_000, now: 100)
        #expect(stepDown.timePassed(keepsShards: true, isRedisUsable: true, now: 100) == .wait)
        #expect(stepDown.timePassed(keepsShards: true, isRedisUsable: false, now: 200) == .report)
        #expect(stepDown.timePassed(keepsShards: true, isRedisUsable: false, now: 18_099) == .wait)
        #expect(stepDown.timePassed(keepsShards: true, isRedisUsable: false, now: 18_100) == .giveUp)
        #expect(stepDown.timePassed(keepsShards: false, isRedisUsable: false, now: 300) == .end)
        stepDown = GracefulStepDown(within: 0, now: 100)
        #expect(stepDown.timePassed(keepsShards: true, isRedisUsable: false, now: 100) == .giveUp)
    }

    @Test(
        "a node that learns of the later term during a transfer takes nothing from it",
        arguments: series(of: 50))
    func lateReport(seed: UInt64) {
        var world = JournalWorld(seed: seed, Self.limits)
        world.run(for: 1_400)
        let leader = world.leaders[0]
        world.publishAndTransfer(from: leader)
        for _ in 0..<40 {
            world.run(for: 25)
            world.reportTerm(to: leader)
        }
        #expect(world.faults == [] && world.sent == [1, 2] && world.begun == 1)
        #expect(world.leaders == [1 - leader])
    }

    @Test("a successor in whose journal the leader cuts off what comes next reads from the beginning again")
    func hole() {
        var leadership = ShardLeadership(Self.limits)
        _ = leadership.timePassed(now: 0, random: 5)
        let term = JournalTerm(term: 1, epoch: 2, secret: 3)
        let prepared = [LeadershipAction.beginRecovery(term), .readJournal(leaderToken: 9, after: 0)]
        #expect(leadership.leadershipRequestAnswered(.successor(of: 9, term, last: 40), now: 0) == prepared)
        #expect(
            leadership.pageRead([(1, 1), (2, 1)], hasHeads: true, now: 1, random: 6)
                == [.readJournal(leaderToken: 9, after: 2)])
        #expect(leadership.pageRead([(8, 1)], hasHeads: true, now: 2, random: 6) == [.discardRecovery])
        _ = leadership.timePassed(now: 100, random: 7)
        #expect(leadership.leadershipRequestAnswered(.successor(of: 9, term, last: 40), now: 100) == prepared)
    }

    @Test("a successor with much to read reports to the leader how far it is")
    func slowSuccessor() {
        var leadership = ShardLeadership(Self.limits)
        _ = leadership.timePassed(now: 0, random: 5)
        let term = JournalTerm(term: 1, epoch: 2, secret: 3)
        _ = leadership.leadershipRequestAnswered(.successor(of: 9, term, last: 40), now: 0)
        #expect(
            leadership.pageRead([(1, 1), (2, 1)], hasHeads: true, now: 300, random: 6) == [
                .requestLeadership(
                    leaderToken: 6, createsJournal: false, electionDelay: 0,
                    readUntil: JournalPosition(leaderToken: 9, last: 2))
            ])
        #expect(
            leadership.leadershipRequestAnswered(.successor(of: 9, term, last: 41), now: 301) == [
                .readJournal(leaderToken: 9, after: 2)
            ])
    }

    @Test("what gathers is cut into batches, and each is waited for under a number of its own")
    func cut() {
        var writer = JournalWriter(
            JournalTerm(term: 1, epoch: 2, secret: 3), leaderToken: 5, written: 0, now: 0)
        let half = ByteBuffer(repeating: 1, count: JournalWriter.batchBytesMax / 2)
        var numbers: [UInt64] = []
        for _ in 0..<5 {
            numbers.append(writer.pendingNumber)
            writer.gathered(half)
        }
        #expect(numbers == [1, 1, 2, 2, 3])
        var written: [(number: UInt64, bytes: Int)] = []
        while let append = writer.next(Self.limits, now: 0) {
            guard case .gathered(let number) = writer.done(now: 0) else { break }
            written.append((number, append.bytes.readableBytes))
        }
        #expect(written.map(\.number) == [1, 2, 3])
        #expect(written.map(\.bytes) == [2, 2, 1].map { $0 * half.readableBytes })
        #expect(writer.isWritten)
    }

    @Test(
        "a node that is alone leads when there was no journal for a while, and writes what it records"
    )
    func alone() {
        var leadership = ShardLeadership(Self.limits)
        #expect(
            leadership.timePassed(now: 0, random: 4) == [
                .requestLeadership(leaderToken: 4, createsJournal: false, electionDelay: 0, readUntil: nil)
            ])
        #expect(leadership.leadershipRequestAnswered(.empty, now: 0) == [])
        #expect(
            leadership.timePassed(now: 1_000, random: 5) == [
                .requestLeadership(leaderToken: 5, createsJournal: true, electionDelay: 0, readUntil: nil)
            ],
            "a leader that lives would have written it again by now")
        let term = JournalTerm(term: 1, epoch: 2, secret: 3)
        #expect(
            leadership.leadershipRequestAnswered(.granted(term, last: 0, isWhole: true, after: 0), now: 0)
                == [.beginRecovery(term), .becomeLeader(term, isAnew: false)])
        let append = JournalAppend(
            leaderToken: 5, number: 1, bytes: ByteBuffer(string: "a"), oldestKept: 1, isWhole: true)
        #expect(leadership.recorded(ByteBuffer(string: "a"), now: 0) == [.append(append)])
        #expect(leadership.recorded(ByteBuffer(string: "b"), now: 0) == [])
        #expect(leadership.recorded(ByteBuffer(string: "c"), now: 0) == [])
        let next = JournalAppend(
            leaderToken: 5, number: 2, bytes: ByteBuffer(string: "bc"), oldestKept: 1, isWhole: true)
        #expect(
            leadership.appendAnswered(append, .done, now: 1, random: 6) == [
                .releaseOutput(1), .append(next),
            ],
            "what gathered meanwhile is one batch")
    }

    @Test("what is recorded before Redis answers goes with the batch whose number it waits for")
    func answerWithinTurn() {
        var leadership = ShardLeadership(Self.limits)
        _ = leadership.timePassed(now: 0, random: 5)
        _ = leadership.leadershipRequestAnswered(
            .granted(JournalTerm(term: 1, epoch: 2, secret: 3), last: 0, isWhole: true, after: 0),
            now: 0)
        guard case .append(let first)? = leadership.recorded(ByteBuffer(string: "a"), now: 0).first else {
            Issue.record("no batch")
            return
        }
        _ = leadership.recorded(ByteBuffer(string: "b"), now: 0)
        // A turn begins: something happens, and its number is asked for; then Redis answers.
        let number = leadership.writer?.pendingNumber ?? 0
        leadership.recorded(ByteBuffer(string: "c"))
        guard case .append(let next)? = leadership.appendAnswered(first, .done, now: 1, random: 6).last else {
            Issue.record("no second batch")
            return
        }
        #expect(next.bytes == ByteBuffer(string: "bc"))
        #expect(leadership.appendAnswered(next, .done, now: 2, random: 7) == [.releaseOutput(number)])
    }

    @Test("a node with another layout is refused and never leads")
    func otherLayout() {
        var leadership = ShardLeadership(Self.limits)
        _ = leadership.timePassed(now: 0, random: 5)
        #expect(
            leadership.leadershipRequestAnswered(.otherLayout("4 shards"), now: 0) == [
                .refuse("the journal in Redis has 4 shards")
            ])
        #expect(leadership.keepsLogs == false)
    }
}

extension ShardLeadership {
    /// Leads with the token 5, and has so many batches in the journal.
    fileprivate mutating func becomeLeader(at now: UInt64, last: UInt64 = 0) {
        _ = timePassed(now: now, random: 5)
        let term = JournalTerm(term: 1, epoch: 2, secret: 3)
        _ = leadershipRequestAnswered(.granted(term, last: last, isWhole: true, after: 0), now: now)
        guard last > 0 else { return }
        _ = pageRead([(last, 1)], hasHeads: true, now: now, random: 6)
        _ = appendAnswered(.renewal(of: 5, last: last), .done, now: now, random: 6)
    }
}

extension JournalAppend {
    fileprivate static func renewal(of leaderToken: UInt64, last: UInt64) -> JournalAppend {
        JournalAppend(
            leaderToken: leaderToken, number: last, bytes: ByteBuffer(), oldestKept: last, isWhole: true)
    }
}
