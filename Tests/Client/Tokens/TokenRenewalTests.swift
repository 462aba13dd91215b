import Testing

@testable import RTMClient

@Suite("When a token provider is asked")
struct TokenRenewalTests {
    @Test("one round at a time, whatever asks for it")
    func singleFlight() {
        var renewal = TokenRenewal()
        #expect(renewal.needed() == .ask(round: 1))
        #expect(renewal.needed() == nil)
        renewal.succeeded(1)
        #expect(renewal.needed() == .ask(round: 2))
    }

    @Test("a failure is followed by a wait that doubles up to half a minute")
    func waits() {
        var renewal = TokenRenewal()
        _ = renewal.needed()
        let waits = (1...8).map { _ in
            let action = renewal.failed(1)
            #expect(renewal.waited(1) == .ask(round: 1))
            return action
        }
        let seconds = [1, 2, 4, 8, 16, 30, 30, 30]
        #expect(waits == seconds.map { .wait(.seconds($0), round: 1) })
    }

    @Test("a new round begins with a short wait again")
    func fresh() {
        var renewal = TokenRenewal()
        _ = renewal.needed()
        _ = renewal.failed(1)
        _ = renewal.failed(1)
        renewal.succeeded(1)
        _ = renewal.needed()
        #expect(renewal.failed(2) == .wait(.seconds(1), round: 2))
    }

    @Test("what belongs to an earlier round is ignored, and so is all of it after the session's end")
    func stale() {
        var renewal = TokenRenewal()
        _ = renewal.needed()
        renewal.ended()
        #expect(renewal.failed(1) == nil)
        #expect(renewal.waited(1) == nil)
        #expect(!renewal.isWanted(1))
        _ = renewal.needed()
        renewal.succeeded(1)
        #expect(renewal.isWanted(2))
    }
}
