import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

/// Storage remembers the sessions whose end concerns a lock, and no others, however long they live and
/// however many channels they use.
@Suite("Sessions that use locks")
struct LockSessionTests {
    private static let anna = Caller.user("anna", session: 1)
    private static let ben = Caller.user("ben", session: 2)

    private var writer: StorageWriter<MemoryStore>
    private var steady: UInt64 = 1_000
    private var ticket: UInt64 = 0

    init() throws {
        writer = try StorageWriter(
            MemoryStore(source: 1), rules: StorageRules(), now: StorageNow(wall: 1, steady: 1_000))
    }

    private mutating func write(
        _ action: LockRequest.Action, by caller: Caller, in channel: String = "lobby", _ lock: String = "l"
    ) -> StorageWrite {
        ticket += 1
        return StorageWrite(
            LockChange(
                LockRequest(action, lock, at: .lobby), of: .message(channel), ticket: ticket, by: caller),
            link: 1, request: ticket)
    }

    @discardableResult
    private mutating func run(_ group: StorageWrite...) -> WriteOutcome {
        writer.run(group, now: StorageNow(wall: 1, steady: steady))
    }

    private func push(_ change: SessionChange, of caller: Caller, in channel: String? = nil) -> StorageWrite {
        StorageWrite(
            SessionPush(caller: caller, change: change, channel: channel.map { .message($0) }), link: 1)
    }

    private static let acquire = LockRequest.Action.acquire(retry: false, heldToken: 0)
    private static let wait = LockRequest.Action.acquire(retry: true, heldToken: 0)

    @Test("L-41: who gives back, loses or gives up locks is forgotten, in however many channels that was")
    mutating func forgotten() {
        let (anna, ben) = (Self.anna, Self.ben)
        for number in 0..<20 {
            let channel = "channel \(number)"
            run(write(.set(ttlSeconds: 10), by: anna, in: channel))
            // The lock was given back, and handed over to a waiter.
            run(write(Self.acquire, by: anna, in: channel))
            run(write(Self.wait, by: ben, in: channel))
            #expect(writer.transaction.registry.sessionCount == 2)
            run(write(.release(withdraw: false), by: anna, in: channel))
            #expect(writer.transaction.registry.sessionCount == 1)
            // The lock was taken away.
            run(write(.revoke(owner: "ben"), by: anna, in: channel))
            #expect(writer.transaction.registry.sessionCount == 0)
            // The lock was left alone until its ttl was over.
            run(write(Self.acquire, by: anna, in: channel), push(.left, of: anna, in: channel))
            steady += 11_000
            run()
            #expect(writer.transaction.registry.sessionCount == 0)
            // The lock was given up, and removed while it had an owner and waiters.
            run(write(Self.acquire, by: anna, in: channel), write(Self.wait, by: ben, in: channel))
            run(write(.release(withdraw: true), by: ben, in: channel))
            #expect(writer.transaction.registry.sessionCount == 1)
            run(write(Self.wait, by: ben, in: channel), write(.remove, by: ben, in: channel))
            #expect(writer.transaction.registry.sessionCount == 0)
        }
        #expect(writer.transaction.registry.tableCount == 0)
    }

    @Test("K-11: the end of a session is heard as long as it has one lock, or got one again at once")
    mutating func remembered() {
        let anna = Self.anna
        run(write(.set(ttlSeconds: 10), by: anna, "a"), write(.set(ttlSeconds: 10), by: anna, "b"))
        run(write(Self.acquire, by: anna, "a"), write(Self.acquire, by: anna, "b"))
        run(write(.release(withdraw: false), by: anna, "a"))
        run(write(.release(withdraw: false), by: anna, "b"), write(Self.acquire, by: anna, "b"))
        run(push(.ended, of: anna))
        steady += 11_000
        let outcome = run()
        #expect(outcome.events.count == 1, "b is released")
        #expect(writer.transaction.registry.tableCount == 0 && writer.transaction.registry.sessionCount == 0)
    }

    @Test("K-11: who left the channel of his lock and comes back keeps it, and his end is heard again")
    mutating func cameBack() {
        let anna = Self.anna
        run(write(.set(ttlSeconds: 10), by: anna), write(Self.acquire, by: anna))
        run(push(.left, of: anna, in: "lobby"))
        run(push(.entered, of: anna, in: "lobby"))
        steady += 60_000
        #expect(run().events.isEmpty)
        run(push(.ended, of: anna))
        steady += 11_000
        #expect(run().events.count == 1)
    }
}
