import Foundation
import Testing

@testable import rtm

@Suite("The book-keeping of the bench")
struct BenchTests {
    private func message(_ lane: UInt32, _ sequence: UInt32) -> BenchMessage {
        BenchMessage(lane: lane, sequence: sequence, sentNanoseconds: 1000)
    }

    @Test("a message is delivered when every subscriber has it")
    func delivery() {
        var tally = BenchTally(subscribers: 2, lanes: 2)
        #expect(tally.send(lane: 0) == 1)
        #expect(tally.send(lane: 1) == 1)
        #expect(tally.receive(message(1, 1), offset: 1, subscriber: 0, nowNanoseconds: 2000) == .counted)
        #expect(tally.receive(message(0, 1), offset: 2, subscriber: 0, nowNanoseconds: 2000) == .counted)
        #expect(tally.receive(message(1, 1), offset: 1, subscriber: 1, nowNanoseconds: 2000) == .delivered)
        #expect(tally.lost == 1)
        #expect(tally.receive(message(0, 1), offset: 2, subscriber: 1, nowNanoseconds: 2000) == .delivered)
        #expect(tally.send(lane: 0) == 2)
        #expect(tally.lost == 2)
        #expect(tally.deliveries == 4)
        #expect(tally.faults == 0)
    }

    @Test("a message that comes twice, too late or out of the log's order is a fault (M-24, M-25)")
    func faults() {
        var tally = BenchTally(subscribers: 1, lanes: 2)
        _ = tally.send(lane: 0)
        _ = tally.send(lane: 1)
        #expect(tally.receive(message(0, 1), offset: 5, subscriber: 0, nowNanoseconds: 0) == .delivered)
        #expect(tally.receive(message(0, 1), offset: 6, subscriber: 0, nowNanoseconds: 0) == .faulty)
        #expect(tally.receive(message(1, 1), offset: 4, subscriber: 0, nowNanoseconds: 0) == .faulty)
        #expect(tally.receive(message(1, 2), offset: 7, subscriber: 0, nowNanoseconds: 0) == .faulty)
        #expect(tally.receive(message(9, 1), offset: 8, subscriber: 0, nowNanoseconds: 0) == .faulty)
        #expect(tally.faults == 4)
        #expect(tally.lost == 1)
    }

    @Test("a message that was refused isn't lost")
    func withdrawal() {
        var tally = BenchTally(subscribers: 3, lanes: 1)
        _ = tally.send(lane: 0)
        tally.withdraw(lane: 0)
        #expect(tally.lost == 0)
        #expect(tally.send(lane: 0) == 1)
    }

    @Test("a payload says lane, number and time, and has the size asked for")
    func payload() {
        let message = BenchMessage(lane: 7, sequence: .max, sentNanoseconds: 0x0102_0304_0506_0708)
        let data = message.payload(bytes: 128)
        #expect(data.count == 128)
        #expect(BenchMessage(payload: data) == message)
        #expect(BenchMessage(payload: data.prefix(15)) == nil)
        #expect(BenchMessage(payload: Data([1]) + data) != message)
    }

    @Test("quantiles are exact to 3 of 100, from nanoseconds to hours")
    func quantiles() throws {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == nil)
        for value in stride(from: UInt64(1), through: 10_000_000, by: 1000) { histogram.add(value) }
        for share in [0.01, 0.5, 0.99] {
            let nanoseconds = try #require(histogram.quantile(share)) / .nanoseconds(1)
            #expect(abs(nanoseconds / (10_000_000 * share) - 1) < 0.035, "\(share): \(nanoseconds)")
        }
        for value in [0, 31, 32, 63, 64, 1 << 40, .max] as [UInt64] {
            var one = LatencyHistogram()
            one.add(value)
            let nanoseconds = try #require(one.quantile(1)) / .nanoseconds(1)
            #expect(
                nanoseconds >= Double(min(value, UInt64(Int64.max))) && nanoseconds <= Double(value) * 1.04)
        }
    }

    @Test("the sum adds publishers up")
    func total() {
        var one = BenchTally(subscribers: 2, lanes: 1)
        _ = one.send(lane: 0)
        _ = one.receive(message(0, 1), offset: 1, subscriber: 1, nowNanoseconds: 5000)
        let total = BenchTotal([one, one])
        #expect(total.published == 2)
        #expect(total.deliveries == 2)
        #expect(total.lost == 2)
        #expect(total.latencies.total == 2)
        let report = BenchReport(
            plan: BenchPlan(shape: .pairs(2)), total: total, elapsed: .seconds(2), serverSeconds: 0.5,
            cores: 2)
        #expect(report.deliveriesPerSecond == 1)
        #expect(report.serverSecondsPerMillion == 250_000)
        #expect(!report.isSound)
    }

    @Test("processor time is found whatever the program is called (proc(5))")
    func processTime() {
        let tail = " S 1 1 1 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 5 6 7"
        #expect(ProcessTime.ticks(stat: "7 (rtm-edge)" + tail) == 300)
        #expect(ProcessTime.ticks(stat: "7 (a) b ) (c)" + tail) == 300)
        #expect(ProcessTime.ticks(stat: "7 (short) S 1 2") == nil)
        #expect(ProcessTime.ticks(stat: "") == nil)
    }

    @Test("ping sums up")
    func ping() {
        var summary = PingSummary()
        for milliseconds in [3, 1, 2] { summary.add(.milliseconds(milliseconds)) }
        #expect(summary.sentence == "3 answered, min/avg/max 1.000/2.000/3.000 ms")
        #expect(
            summary.json.description
                == #"{"result":"ok","count":3,"minMilliseconds":1.000,"#
                + #""avgMilliseconds":2.000,"maxMilliseconds":3.000}"#
        )
    }
}

@Suite("The pace of the bench") struct BenchPaceTests {
    @Test("R-16: eight lanes at a server with a rate are refused a few times, and then never again")
    func lanes() {
        var pace = BenchPace()
        let start = ContinuousClock.now
        // A server that takes 60 messages a second.
        var (tokens, filled) = (60.0, start)
        var due = [ContinuousClock.Instant](repeating: start, count: 8)
        var (sent, refused, lateRefusals) = (0, 0, 0)
        while let lane = due.indices.min(by: { due[$0] < due[$1] }), due[lane] < start + .seconds(60) {
            let now = due[lane]
            if let turn = pace.turn(now: now), turn > now {
                due[lane] = turn
            }
            let at = due[lane]
            tokens = min(60, tokens + (at - filled) / .seconds(1) * 60)
            filled = at
            if tokens >= 1 {
                tokens -= 1
                sent += 1
                due[lane] = at + .milliseconds(1)
            } else {
                refused += 1
                if at > start + .seconds(5) { lateRefusals += 1 }
                pace.putOff(for: .seconds((1 - tokens) / 60), now: at)
            }
        }
        #expect(sent > 58 * 60)
        #expect(refused < 200)
        #expect(lateRefusals < 60)
    }
}
