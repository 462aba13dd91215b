import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

struct LockLedgerTests {
    private let key = LockKey(channel: .message("lobby"), name: "manage")

    @Test func `K-7: the same operation on the same lock is refused while it is under way`() throws {
        var ledger = LockLedger()
        try ledger.begin(.acquireLock, key)
        let error = #expect(throws: RTMError.self) { try ledger.begin(.acquireLock, key) }
        #expect(error?.code == .lockOperationPerforming)
        try ledger.begin(.releaseLock, key)
        try ledger.begin(.acquireLock, LockKey(channel: .stream("lobby"), name: "manage"))
        ledger.end(.acquireLock, key)
        try ledger.begin(.acquireLock, key)
    }

    @Test func `K-12: a held lock is claimed with its token, and a refused claim is announced once`() {
        var ledger = LockLedger()
        let other = LockKey(channel: .message("attic"), name: "x")
        ledger.acquired(key, token: 7)
        ledger.acquired(other, token: 3)
        let claims = ledger.beginClaims()
        #expect(claims == [.init(key: other, token: 3), .init(key: key, token: 7)])
        ledger.confirmed(claims[0], token: 3)
        ledger.refused(claims[1])
        #expect(ledger.takeLost() == [claims[1]])
        #expect(ledger.takeLost() == [])
        #expect(ledger.beginClaims() == [claims[0]])
    }

    @Test func `A claim without an answer is made again on the next connection`() {
        var ledger = LockLedger()
        ledger.acquired(key, token: 7)
        let claims = ledger.beginClaims()
        #expect(ledger.beginClaims() == claims)
        ledger.undecided(claims[0])
        #expect(ledger.beginClaims() == claims)
        #expect(ledger.takeLost() == [])
    }

    @Test func `Events take a lock away only if they are newer than its acquisition`() {
        func remains(_ kind: LockEvent.Kind, _ owner: String?, token: UInt64) -> Bool {
            var ledger = LockLedger()
            ledger.acquired(key, token: 7)
            let detail = LockDetail(name: "manage", owner: owner, fencingToken: token)
            ledger.observed(detail, kind, in: .message("lobby"))
            return ledger.token(of: key) != nil
        }
        #expect(!remains(.released, "alice", token: 7))
        #expect(remains(.released, "bob", token: 6), "what was released before it was acquired")
        #expect(!remains(.removed, nil, token: 7))
        #expect(remains(.removed, nil, token: 5))
        #expect(remains(.acquired, "alice", token: 7))
        #expect(!remains(.acquired, "bob", token: 8))
        #expect(!remains(.snapshot, "bob", token: 9))
        #expect(remains(.snapshot, "alice", token: 7))
        #expect(remains(.set, nil, token: 0))
    }

    @Test func `While a lock is claimed, the claim's answer decides and no event`() {
        var ledger = LockLedger()
        ledger.acquired(key, token: 7)
        let claims = ledger.beginClaims()
        ledger.observed(
            LockDetail(name: "manage", owner: "bob", fencingToken: 9), .snapshot, in: .message("lobby"))
        ledger.refused(claims[0])
        #expect(ledger.takeLost() == claims)
    }

    @Test func `K-12: a lost lock has the time to live that the client learned last`() {
        var ledger = LockLedger()
        ledger.acquired(key, token: 7)
        ledger.remember(.seconds(60), of: key)
        #expect(ledger.beginClaims().map(\.ttl) == [.seconds(60)])
        ledger.observed(
            LockDetail(name: "manage", owner: "alice", ttl: .seconds(300), fencingToken: 7), .acquired,
            in: .message("lobby"))
        let claims = ledger.beginClaims()
        ledger.refused(claims[0])
        #expect(ledger.takeLost().map(\.ttl) == [.seconds(300)])
    }

    @Test func `2.1.9: a lock that was acquired unnoticed is released until the server confirms that`() {
        var ledger = LockLedger()
        ledger.disown(key)
        #expect(ledger.leftovers == [key])
        #expect(ledger.leftovers == [key])
        ledger.acquired(key, token: 9)
        #expect(ledger.leftovers == [], "now it is wanted")
        ledger.disown(key)
        #expect(ledger.token(of: key) == nil)
        ledger.released(key)
        #expect(ledger.leftovers == [])
    }

    /// A server with one lock, a client whose answers get lost, and others who take the lock now and then.
    /// The client never believes in a lock that a claim would show as lost, and never forgets one that the
    /// server thinks it has.
    @Test(arguments: UInt64(0)..<200)
    func `K-12: after every return client and server agree, and each loss was announced once`(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        var ledger = LockLedger()
        var owner: String?
        var token: UInt64 = 0
        var reported = 0
        var losses = 0
        func take(_ user: String) {
            owner = user
            token += 1
        }
        for _ in 0..<300 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0 where owner == nil && ledger.token(of: key) == nil:
                take("alice")
                // The answer is lost in a third of the cases, together with the connection.
                if random.chance(1, in: 3) { ledger.disown(key) } else { ledger.acquired(key, token: token) }
            case 1 where owner == "alice" && ledger.token(of: key) != nil:
                if random.chance(1, in: 2) { owner = nil }
                if owner == nil, random.chance(1, in: 2) { ledger.released(key) } else { ledger.disown(key) }
            case 2:
                // Somebody else takes the lock without the client's knowledge.
                if owner == "alice", ledger.token(of: key) != nil { losses += 1 }
                take("bob")
                if random.chance(1, in: 2) { owner = nil }
            case 3 where owner == "bob":
                owner = nil
            default:
                for key in ledger.leftovers {
                    if owner == "alice" { owner = nil }
                    ledger.released(key)
                }
                for claim in ledger.beginClaims() {
                    if owner == "alice", token == claim.token {
                        ledger.confirmed(claim, token: token)
                    } else {
                        ledger.refused(claim)
                    }
                }
                reported += ledger.takeLost().count
                #expect((ledger.token(of: key) != nil) == (owner == "alice"))
                #expect(reported == losses)
            }
        }
    }
}
