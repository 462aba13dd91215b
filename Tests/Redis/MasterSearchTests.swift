import NIOCore
import RTMTestSupport
import Testing

@testable import RTMRedis

@Suite("The search for the master with sentinels")
struct MasterSearchTests {
    private static let sentinels = (1...3).map { RedisEndpoint.tcp(host: "sentinel\($0)", port: 26_379) }
    private static func server(_ number: Int) -> RedisEndpoint { .tcp(host: "server\(number)", port: 6_379) }

    private static func reply(_ server: Int, epoch: UInt64) -> RedisReply {
        let words = [
            "name", "mymaster", "ip", "server\(server)", "port", "6379", "flags", "master", "config-epoch",
            "\(epoch)",
        ]
        return .array(words.map { .string(Array($0.utf8)) })
    }

    private let start = NIODeadline.uptimeNanoseconds(0)

    @Test("a majority decides, and the highest epoch counts")
    func majority() {
        var search = MasterSearch(Self.sentinels, master: "mymaster")
        #expect(search.passed(start) == Self.sentinels.enumerated().map { .ask($1, number: $0 + 1) })
        #expect(search.passed(start) == [])
        #expect(search.answered(1, Self.reply(1, epoch: 4), now: start) == [])
        #expect(
            search.answered(2, Self.reply(2, epoch: 5), now: start) == [
                .use(SlotMap(all: Self.server(2), configEpoch: 5))
            ])
        // The third one hasn't heard of the failover yet.
        #expect(search.answered(3, Self.reply(1, epoch: 4), now: start) == [])
        #expect(search.master == SentinelAnswer(endpoint: Self.server(2), epoch: 5))
        // In the next round two of them still say what is old.
        let later = start + .seconds(1)
        #expect(search.passed(later).count == 3)
        #expect(search.answered(4, Self.reply(1, epoch: 4), now: later) == [])
        #expect(search.answered(6, Self.reply(1, epoch: 4), now: later) == [])
        #expect(search.answered(5, Self.reply(2, epoch: 5), now: later) == [])
        #expect(search.master?.endpoint == Self.server(2))
    }

    @Test("a minority is believed only if it knows more, or if nothing is known")
    func minority() {
        var search = MasterSearch(Self.sentinels, master: "mymaster")
        _ = search.passed(start)
        #expect(search.failed(1, "refused", now: start) == [])
        #expect(search.failed(2, "refused", now: start) == [])
        #expect(
            search.answered(3, Self.reply(1, epoch: 4), now: start) == [
                .use(SlotMap(all: Self.server(1), configEpoch: 4))
            ])
        for (epoch, expected) in [(3, 1), (5, 2)] as [(UInt64, Int)] {
            let now = start + .seconds(Int64(epoch))
            let numbers = search.passed(now).map { action in
                if case .ask(_, let number) = action { number } else { 0 }
            }
            _ = search.failed(numbers[0], "refused", now: now)
            _ = search.failed(numbers[1], "refused", now: now)
            _ = search.answered(numbers[2], Self.reply(2, epoch: epoch), now: now)
            #expect(search.master?.endpoint == Self.server(expected))
        }
    }

    @Test("a server that was replaced and chosen again between two rounds has another history")
    func chosenAgain() {
        var search = MasterSearch(Self.sentinels, master: "mymaster")
        _ = search.passed(start)
        for number in 1...3 { _ = search.answered(number, Self.reply(1, epoch: 4), now: start) }
        _ = search.passed(start + .seconds(1))
        #expect(search.answered(4, Self.reply(1, epoch: 4), now: start) == [])
        #expect(
            search.answered(5, Self.reply(1, epoch: 6), now: start)
                == [.use(SlotMap(all: Self.server(1), configEpoch: 6))])
    }

    @Test("sentinels that were set up anew are believed when all that answer agree")
    func anew() {
        var search = MasterSearch(Self.sentinels, master: "mymaster")
        _ = search.passed(start)
        for number in 1...3 { _ = search.answered(number, Self.reply(1, epoch: 40), now: start) }
        _ = search.passed(start + .seconds(1))
        #expect(search.answered(4, Self.reply(2, epoch: 0), now: start) == [])
        #expect(search.answered(5, Self.reply(2, epoch: 0), now: start) == [])
        #expect(search.failed(6, "gone", now: start) == [.use(SlotMap(all: Self.server(2)))])
    }

    @Test(
        "when no sentinel names the master, the cause says which one and why, and they are asked again soon")
    func nobody() {
        var search = MasterSearch(Self.sentinels, master: "mymaster")
        _ = search.passed(start)
        for number in 1...3 { _ = search.failed(number, "ERR No such master with that name", now: start) }
        #expect(search.cause.contains("mymaster") && search.cause.contains("sentinel1:26379: ERR No such"))
        #expect(search.cause.contains("redis.sentinel.master"))
        #expect(search.passed(start + .milliseconds(99)) == [])
        #expect(search.passed(start + .milliseconds(100)).count == 3)
        #expect(search.answered(4, .array([.null]), now: start) == [])
        #expect(search.cause.contains("ERR No such") == true)
    }

    @Test("failovers, sentinels that are behind or away: the newest master is found", arguments: 1...60)
    func histories(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var search = MasterSearch(Self.sentinels, master: "mymaster")
        var truth = (server: 1, epoch: UInt64(1))
        var views = Array(repeating: truth, count: 3)
        var now = start
        for step in 0..<200 {
            now = now + .milliseconds(200)
            if step < 150, random.chance(1, in: 6) {
                truth = (Int.random(in: 1...3, using: &random), truth.epoch + 1)
                // Two of three agree on a failover.
                for sentinel in Array(0..<3).shuffled(using: &random).prefix(2) { views[sentinel] = truth }
            }
            if random.chance(1, in: 4) || step == 150 {
                for sentinel in 0..<3 where step >= 150 || random.chance(1, in: 2) { views[sentinel] = truth }
            }
            if random.chance(1, in: 5) { search.doubted(now: now) }
            var questions = search.passed(now)
            questions.shuffle(using: &random)
            for case .ask(let endpoint, let number) in questions {
                let sentinel = Self.sentinels.firstIndex(of: endpoint) ?? 0
                switch step < 150 ? Int.random(in: 0..<8, using: &random) : 7 {
                case 0: break
                case 1, 2: _ = search.failed(number, "away", now: now)
                default:
                    let view = views[sentinel]
                    _ = search.answered(number, Self.reply(view.server, epoch: view.epoch), now: now)
                }
            }
            // A question that nobody answers ends by its timeout, late answers of a round are ignored.
            for case .ask(_, let number) in questions { _ = search.failed(number, "timeout", now: now) }
        }
        #expect(search.master == SentinelAnswer(endpoint: Self.server(truth.server), epoch: truth.epoch))
    }
}
