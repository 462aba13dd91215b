import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

@Suite("The locks of a channel")
struct LockTableTests {
    private var table = LockTable()
    private var step = LockStep(counter: 0)
    private var events: [String] { step.events.map { "\($0.kind) \($0.lock.name) \($0.lock.owner)" } }

    private func claimant(
        _ user: String, session: UInt64 = 1, instance: UInt64 = 1, link: UInt64 = 1
    ) -> LockTable.Claimant {
        .init(
            user: user, instance: instance,
            place: .init(session: SessionID(rawValue: session), link: link))
    }

    private mutating func acquire(
        _ user: String, session: UInt64 = 1, instance: UInt64 = 1, retry: Bool = false, ticket: UInt64 = 0
    ) throws -> LockTable.Acquisition {
        try table.acquire(
            "l", for: claimant(user, session: session, instance: instance), retry: retry, ticket: ticket,
            &step)
    }

    @Test("K-2, L-40: a new lock is free, its ttl within bounds; a second one of the name is refused")
    mutating func set() throws {
        for (name, given, kept) in [("a", 0, 10), ("b", 400, 300), ("c", 60, 60)]
            as [(String, UInt32, UInt32)]
        {
            try table.set(name, ttlSeconds: given, &step)
            #expect(table.locks[name]?.ttlSeconds == kept)
        }
        #expect(refusal { try table.set("a", ttlSeconds: 20, &step) }?.code == .lockAlreadyExist)
        #expect(table.locks["a"]?.ttlSeconds == 10)
        #expect(events == ["set a ", "set b ", "set c "])
    }

    @Test("L-39: the 33rd lock of a channel is refused with the limit")
    mutating func limit() throws {
        for number in 1...32 { try table.set("\(number)", ttlSeconds: 10, &step) }
        let error = refusal { try table.set("33", ttlSeconds: 10, &step) }
        #expect(error?.code == .lockOperationFailed && error?.limit?.value == 32)
    }

    @Test("K-4: free is acquired, missing and held are refused, one's own is a success without an event")
    mutating func acquisition() throws {
        #expect(refusal { try acquire("anna") }?.code == .lockNotExist)
        try table.set("l", ttlSeconds: 10, &step)
        #expect(try acquire("anna") == .acquired(token: 2))
        #expect(refusal { try acquire("ben", session: 2) }?.code == .lockAcquireFailed)
        #expect(try acquire("anna") == .acquired(token: 2))
        #expect(events == ["set l ", "acquired l anna"])
    }

    @Test("another client object of the owner gets a token of its own; the old one is stale then")
    mutating func takeover() throws {
        try table.set("l", ttlSeconds: 10, &step)
        #expect(try acquire("anna", instance: 1) == .acquired(token: 2))
        #expect(try acquire("anna", session: 2, instance: 2) == .acquired(token: 4))
        #expect(
            refusal { try table.checkOwner("l", user: "anna", token: 2) }?.code == .storageLockNotAcquired)
        try table.checkOwner("l", user: "anna", token: 4)
    }

    @Test("K-5, K-17: those who wait are served in their order, each transition is one event")
    mutating func line() throws {
        try table.set("l", ttlSeconds: 10, &step)
        _ = try acquire("anna")
        #expect(try acquire("ben", session: 2, retry: true, ticket: 7) == .waiting)
        #expect(try acquire("cleo", session: 3, retry: true, ticket: 8) == .waiting)
        #expect(
            refusal { try acquire("ben", session: 2, retry: true) }?.code == .lockOperationPerforming, "K-7")
        #expect(refusal { try acquire("dora", session: 4) }?.code == .lockAcquireFailed)
        try table.release("l", by: "anna", &step)
        try table.revoke("l", owner: "ben", &step)
        #expect(step.settled.map(\.ticket) == [7, 8])
        #expect(
            events == [
                "set l ", "acquired l anna", "released l anna", "acquired l ben", "released l ben",
                "acquired l cleo",
            ])
        let revisions = step.events.map(\.revision)
        #expect(revisions == revisions.sorted() && Set(revisions).count == revisions.count)
        let tokens = step.settled.compactMap { try? $0.outcome.get() }
        #expect(tokens.count == 2 && tokens[0] < tokens[1])
    }

    @Test("K-3: removing a held lock ends its line with −14008")
    mutating func removal() throws {
        try table.set("l", ttlSeconds: 10, &step)
        _ = try acquire("anna")
        _ = try acquire("ben", session: 2, retry: true, ticket: 7)
        try table.remove("l", &step)
        #expect(step.settled.map { refusal($0.outcome.get)?.code } == [.lockNotExist])
        #expect(events.last == "removed l ")
        #expect(refusal { try table.remove("l", &step) }?.code == .lockNotExist)
    }

    @Test("a token is above every earlier one, also after the lock was removed and made anew")
    mutating func tokens() throws {
        try table.set("l", ttlSeconds: 10, &step)
        guard case .acquired(let first) = try acquire("anna") else { return }
        try table.remove("l", &step)
        try table.set("l", ttlSeconds: 10, &step)
        guard case .acquired(let second) = try acquire("anna") else { return }
        #expect(second > first)
    }

    @Test("K-8, K-9: only the owner releases, and a revocation has to name the present owner")
    mutating func release() throws {
        try table.set("l", ttlSeconds: 10, &step)
        #expect(refusal { try table.release("l", by: "anna", &step) }?.code == .lockNotAcquired)
        #expect(refusal { try table.revoke("l", owner: "", &step) }?.code == .lockNotAcquired)
        _ = try acquire("anna")
        #expect(refusal { try table.release("l", by: "ben", &step) }?.code == .lockNotAcquired)
        #expect(refusal { try table.revoke("l", owner: "ben", &step) }?.code == .lockNotAcquired)
        try table.revoke("l", owner: "anna", &step)
        #expect(refusal { try table.release("x", by: "anna", &step) }?.code == .lockNotExist)
        #expect(events.last == "released l anna")
    }

    @Test("K-6: who withdraws leaves the line or gives up the lock, whichever it has, and is never refused")
    mutating func withdrawal() throws {
        table.withdraw(from: "l", claimant("ben"), &step)
        try table.set("l", ttlSeconds: 10, &step)
        _ = try acquire("anna")
        _ = try acquire("ben", session: 2, retry: true, ticket: 7)
        table.withdraw(from: "l", claimant("ben", session: 2), &step)
        #expect(step.settled.map(\.ticket) == [7])
        #expect(refusal { try step.settled.first?.outcome.get() }?.code == .lockOperationFailed)
        table.withdraw(from: "l", claimant("ben", session: 2), &step)
        #expect(table.locks["l"]?.owner?.user == "anna")
        guard case .waiting = try acquire("ben", session: 2, retry: true, ticket: 8) else {
            Issue.record("the place in line is free again")
            return
        }
        table.withdraw(from: "l", claimant("anna", instance: 2), &step)
        #expect(table.locks["l"]?.owner?.user == "anna", "another client object of the user")
        table.withdraw(from: "l", claimant("anna"), &step)
        #expect(table.locks["l"]?.owner?.user == "ben")
        #expect(events == ["set l ", "acquired l anna", "released l anna", "acquired l ben"])
    }

    @Test("K-11: the ttl runs while the owner is away, and stops when it is back")
    mutating func ttl() throws {
        try table.set("l", ttlSeconds: 10, &step)
        _ = try acquire("anna")
        #expect(table.nextDeadline == nil)
        table.left(SessionID(rawValue: 1), now: 1_000, &step)
        #expect(table.nextDeadline == 11_000)
        table.expire(now: 10_999, &step)
        table.entered("anna", claimant("anna", session: 2).place)
        #expect(table.nextDeadline == nil)
        table.left(SessionID(rawValue: 1), now: 12_000, &step)
        #expect(table.nextDeadline == nil, "the session that is gone is not the one that is there")
        table.left(SessionID(rawValue: 2), now: 20_000, &step)
        table.expire(now: 30_000, &step)
        #expect(events.last == "released l anna")
    }

    @Test(
        "S-45: the ttl begins when the owner is judged offline, though presence lists him for longer (S-44)")
    mutating func ttlBeginsAtTheLoss() throws {
        let presenceTimeout: UInt64 = 300_000
        try table.set("l", ttlSeconds: 30, &step)
        _ = try acquire("anna")
        _ = try acquire("ben", session: 2, retry: true, ticket: 7)
        // At S-41 the edge reports the end of the session, whatever timeout the session has.
        table.left(SessionID(rawValue: 1), now: 15_000, &step)
        #expect(table.nextDeadline == 45_000)
        #expect(45_000 < 15_000 + presenceTimeout)
        table.expire(now: 44_999, &step)
        #expect(table.locks["l"]?.owner?.user == "anna")
        table.expire(now: 45_000, &step)
        #expect(events.suffix(2) == ["released l anna", "acquired l ben"])
    }

    @Test("K-11, K-5: at the end of the ttl the first in line has the lock")
    mutating func succession() throws {
        try table.set("l", ttlSeconds: 10, &step)
        _ = try acquire("anna")
        _ = try acquire("ben", session: 2, retry: true, ticket: 7)
        table.left(SessionID(rawValue: 1), now: 0, &step)
        table.expire(now: 10_000, &step)
        #expect(events.suffix(2) == ["released l anna", "acquired l ben"])
        #expect(step.settled.map(\.ticket) == [7])
    }

    @Test("K-6: a wait ends with −14001 when its session does")
    mutating func waitEnds() throws {
        try table.set("l", ttlSeconds: 10, &step)
        _ = try acquire("anna")
        _ = try acquire("ben", session: 2, retry: true, ticket: 7)
        table.left(SessionID(rawValue: 2), now: 0, &step)
        #expect(step.settled.map { refusal($0.outcome.get)?.code } == [.lockOperationFailed])
        try table.release("l", by: "anna", &step)
        #expect(table.locks["l"]?.owner == nil)
    }

    @Test("K-12: an owner that comes back goes on with its token, or hears that the lock is lost")
    mutating func reclaim() throws {
        try table.set("l", ttlSeconds: 10, &step)
        _ = try acquire("anna")
        table.lostLink(1, grace: 5_000, now: 0, &step)
        #expect(table.nextDeadline == 15_000)
        #expect(
            try table.reclaim("l", token: 2, for: claimant("anna", session: 2, link: 2))
                == .acquired(token: 2))
        #expect(table.nextDeadline == nil)
        #expect(
            refusal { try table.reclaim("l", token: 1, for: claimant("anna")) }?.code == .lockNotAcquired)
        try table.release("l", by: "anna", &step)
        #expect(
            refusal { try table.reclaim("l", token: 2, for: claimant("anna")) }?.code == .lockNotAcquired)
    }

    @Test("D-20: a write under a lock needs its present owner, and its present token where one is given")
    mutating func fencing() throws {
        #expect(
            refusal { try table.checkOwner("l", user: "anna", token: 0) }?.code == .storageLockNotAcquired)
        try table.set("l", ttlSeconds: 10, &step)
        #expect(
            refusal { try table.checkOwner("l", user: "anna", token: 0) }?.code == .storageLockNotAcquired)
        _ = try acquire("anna")
        try table.checkOwner("l", user: "anna", token: 0)
        try table.checkOwner("l", user: "anna", token: 2)
        #expect(refusal { try table.checkOwner("l", user: "ben", token: 2) }?.code == .storageLockNotAcquired)
        try table.release("l", by: "anna", &step)
        _ = try acquire("anna")
        #expect(
            refusal { try table.checkOwner("l", user: "anna", token: 2) }?.code == .storageLockNotAcquired)
    }
}
