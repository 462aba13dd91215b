import NIOCore
import RTMTestSupport
import Testing

@testable import RTMServiceLink

@Suite struct OpenRequestsTests {
    private func at(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(0) + .milliseconds(milliseconds)
    }

    private func open(_ requests: inout OpenRequests) throws -> OpenRequests.Ticket {
        let ticket = requests.open(1, context: 0, timeout: .seconds(1), now: at(0))
        return try #require(ticket)
    }

    @Test("a request is closed once, and a late answer to an earlier one in the same slot is told apart")
    func closesOnce() throws {
        var requests = OpenRequests(countMax: 4)
        let first = try open(&requests)
        #expect(requests.close(id: first.id)?.slot == first.slot)
        #expect(requests.close(id: first.id) == nil)
        let second = try open(&requests)
        #expect(second.slot == first.slot && second.id != first.id)
        #expect(requests.close(id: first.id) == nil)
        #expect(requests.count == 1)
    }

    @Test("ids that nobody gave are ignored")
    func foreignIDs() {
        var requests = OpenRequests(countMax: 3)
        _ = requests.open(1, context: 0, timeout: .seconds(1), now: at(0))
        for id in [0, 1, 2, 3, .max, 1 << 40] as [UInt64] { #expect(requests.close(id: id) == nil) }
    }

    @Test("the limit refuses one more, and a completion makes room")
    func limit() throws {
        var requests = OpenRequests(countMax: 2)
        let first = try open(&requests)
        _ = try open(&requests)
        let refused = requests.open(1, context: 0, timeout: .seconds(1), now: at(0))
        #expect(refused == nil)
        _ = requests.close(id: first.id)
        _ = try open(&requests)
    }

    @Test(
        "what is left of the deadline travels in whole milliseconds, rounded up and within the field's range")
    func wireTimeout() {
        var requests = OpenRequests(countMax: 8)
        func wire(_ timeout: Duration) -> UInt32? {
            requests.open(1, context: 0, timeout: timeout, now: at(0))?.timeoutMilliseconds
        }
        #expect(wire(.microseconds(1)) == 1)
        #expect(wire(.milliseconds(1500)) == 1500)
        #expect(wire(.seconds(-1)) == 0)
        #expect(wire(.seconds(1 << 40)) == .max)
    }

    /// The table is compared with a dictionary, with fewer timeouts than there are lanes and with more.
    @Test("a random walk keeps ids, order of expiry, next deadline and count", arguments: [1, 3, 200])
    func randomWalk(timeouts: Int) {
        var random = SeededGenerator(seed: UInt64(timeouts))
        var requests = OpenRequests(countMax: 300)
        var model: [UInt64: NIODeadline] = [:]
        var slots: [Int: UInt64] = [:]
        var now: Int64 = 0
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let timeout = Int64.random(in: 1...Int64(timeouts), using: &random) * 10
                let ticket = requests.open(1, context: 0, timeout: .milliseconds(timeout), now: at(now))
                #expect((ticket == nil) == (model.count == 300))
                guard let ticket else { break }
                #expect(ticket.deadline == at(now + timeout))
                #expect(model.updateValue(ticket.deadline, forKey: ticket.id) == nil)
                #expect(slots.updateValue(ticket.id, forKey: ticket.slot) == nil)
            case 5..<8:
                guard let id = model.keys.randomElement(using: &random) else { break }
                let slot = requests.close(id: id)?.slot
                #expect(slot.flatMap { slots.removeValue(forKey: $0) } == id)
                model[id] = nil
            default:
                now += .random(in: 0...30, using: &random)
                while let slot = requests.closeExpired(now: at(now))?.slot {
                    guard let id = slots.removeValue(forKey: slot),
                        let deadline = model.removeValue(forKey: id)
                    else {
                        Issue.record("closed what was not open")
                        return
                    }
                    #expect(deadline <= at(now))
                }
                #expect(model.values.allSatisfy { $0 > at(now) })
            }
            #expect(requests.count == model.count)
            #expect(requests.nextDeadline == model.values.min())
        }
        while let slot = requests.closeAny()?.slot { model[slots[slot] ?? 0] = nil }
        #expect(model.isEmpty && requests.count == 0)
    }

    @Test("requests with one timeout are closed in the order in which they were made, each with its context")
    func orderOfLoss() {
        var requests = OpenRequests(countMax: 100)
        var ids: [UInt64] = []
        for number in 0..<100 {
            let method = UInt32(number % 7)
            let ticket = requests.open(method, context: number, timeout: .seconds(1), now: at(0))
            ids.append(ticket?.id ?? 0)
        }
        for number in stride(from: 0, to: 100, by: 2) {
            let closed = requests.close(id: ids[number])
            #expect(closed?.context == number && closed?.method == UInt32(number % 7))
        }
        var rest: [Int] = []
        while let closed = requests.closeAny() { rest.append(closed.context) }
        #expect(rest == Array(stride(from: 1, to: 100, by: 2)))
    }

    @Test("contexts come back under their numbers, and a number is used again")
    func contexts() {
        var contexts = RequestContexts<String>()
        let (first, second) = (contexts.insert("first"), contexts.insert("second"))
        #expect(first != second)
        #expect(contexts.remove(first) == "first")
        #expect(contexts.insert("third") == first)
        #expect(contexts.remove(second) == "second" && contexts.remove(first) == "third")
    }
}
