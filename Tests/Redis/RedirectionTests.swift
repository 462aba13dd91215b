import NIOCore
import RTMTestSupport
import Testing

@testable import RTMRedis

@Suite("Redirections of a Redis Cluster")
struct RedirectionTests {
    private let asked = RedisEndpoint.tcp(host: "10.0.0.1", port: 7000)

    @Test("MOVED and ASK name a slot and an endpoint, with or without a host, over IPv6 too")
    func endpoints() {
        #expect(
            Redirection("MOVED 3999 10.0.0.2:7001", from: asked)
                == .moved(slot: 3_999, .tcp(host: "10.0.0.2", port: 7_001)))
        #expect(
            Redirection("ASK 1 node.example:7001", from: asked)
                == .ask(.tcp(host: "node.example", port: 7_001)))
        #expect(Redirection("ASK 1 :7001", from: asked) == .ask(.tcp(host: "10.0.0.1", port: 7_001)))
        #expect(
            Redirection("MOVED 0 2001:db8::1:7001", from: asked)
                == .moved(slot: 0, .tcp(host: "2001:db8::1", port: 7_001)))
    }

    @Test("other refusals that pass are known, and all others are none")
    func others() {
        #expect(
            Redirection("TRYAGAIN Multiple keys request during rehashing of slot", from: asked) == .tryAgain)
        #expect(Redirection("CLUSTERDOWN Hash slot not served", from: asked) == .clusterDown)
        #expect(Redirection("LOADING Redis is loading the dataset in memory", from: asked) == .loading)
        for text in [
            "MOVED", "MOVED x 1:2", "MOVED 16384 h:1", "MOVED 1 h", "MOVED 1 h:0", "ASK -1 h:1", "",
            "ERR unknown", "OOM", "WRONGTYPE MOVED 1 h:1",
        ] {
            #expect(Redirection(text, from: asked) == nil, "\(text)")
        }
    }

    @Test("bytes of any kind are no redirection that can't be followed")
    func garbage() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let text = ["MOVED ", "ASK "][Int.random(in: 0...1, using: &random)] + random.text(upTo: 20)
            if case .moved(let slot, _) = Redirection(text, from: asked) {
                #expect((0..<HashSlot.count).contains(slot))
            }
        }
    }

    @Test("a command is followed a few times at once, then with waits, and given up at its deadline")
    func attempts() {
        var attempts = CommandAttempts(until: .uptimeNanoseconds(1_000_000_000))
        let elsewhere = Redirection.moved(slot: 1, asked)
        var actions: [CommandAttempts.Action] = []
        for _ in 0..<6 {
            actions.append(attempts.refused(elsewhere, now: .uptimeNanoseconds(0), random: 0.5))
        }
        let send = CommandAttempts.Action.send(asked)
        #expect(actions == [send, send, send, send, .wait(.milliseconds(2)), send])
        #expect(attempts.refused(.ask(asked), now: .uptimeNanoseconds(0), random: 0) == .ask(asked))
        #expect(
            attempts.refused(.tryAgain, now: .uptimeNanoseconds(0), random: 0) == .wait(.milliseconds(1)))
        #expect(attempts.refused(elsewhere, now: .uptimeNanoseconds(1_000_000_000), random: 0) == .giveUp)
    }

    @Test("however a Cluster answers, a command ends, and no node is asked more than 1,000 times a second")
    func bounded() {
        for seed in 1...50 as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let deadline = NIODeadline.uptimeNanoseconds(2_000_000_000)
            var attempts = CommandAttempts(until: deadline)
            var (now, sent) = (NIODeadline.uptimeNanoseconds(0), 0)
            let answers: [Redirection] = [
                .moved(slot: 1, asked), .ask(asked), .tryAgain, .clusterDown, .loading,
            ]
            course: while true {
                sent += 1
                now = now + .microseconds(Int64.random(in: 0...200, using: &random))
                let answer = answers.randomElement(using: &random) ?? .tryAgain
                switch attempts.refused(answer, now: now, random: .random(in: 0..<1, using: &random)) {
                case .send, .ask: continue
                case .wait(let time): now = now + TimeAmount(time)
                case .giveUp: break course
                }
            }
            #expect(now >= deadline && now < deadline + .milliseconds(200))
            #expect(sent < 2_000 * CommandAttempts.followedAtOnceMax)
        }
    }
}
