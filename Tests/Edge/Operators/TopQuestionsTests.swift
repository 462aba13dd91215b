import NIOCore
import RTMModel
import RTMProtocol
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("What is slow and loud on a loop")
struct TopQuestionsTests {
    @Test("the loudest are found among many more than are counted")
    func counts() {
        var counts = LoudCounts<Int>(of: "app")
        for round in 0..<20 {
            for quiet in 0..<2_000 { counts.add(round * 2_000 + quiet, weight: 1, amount: 1) }
            for loud in 100_000..<100_003 {
                counts.add(loud, weight: UInt64(loud - 99_999), amount: 7)
            }
        }
        let loudest = counts.loudest(3)
        #expect(loudest.map(\.key) == [100_002, 100_001, 100_000])
        #expect(loudest.map(\.count.weight) == [60, 40, 20] && loudest[0].count.amount == 140)
        #expect(counts.loudest(100_000).count < 2 * LoudCounts<Int>.keysMax && counts.omitted > 30_000)
    }

    private func ask(_ fixture: EdgeFixture, _ top: EdgeTop, app: String = "app", number: UInt64 = 1) {
        EdgeQuery(appID: app, top: top).buffer.withUnsafeReadableBytes { bytes in
            fixture.storage.push(
                StorageMethod.edgeQuestion.number, EdgeQuestion(number: number, query: WireText(bytes)))
        }
        fixture.pass()
    }

    private func answers(_ fixture: EdgeFixture) throws -> [EdgeTopFindings] {
        let findings = fixture.storage.bodies(StorageMethod.edgeAnswer.number) { bytes, arena in
            let copy = Array(try EdgeAnswer(bytes, in: arena).findings.bytes)
            return try copy.withUnsafeBytes { try EdgeFindings($0, in: arena) }
        }
        return try findings.map { try #require($0.top) }
    }

    @Test("W-79: queues, channels, publishers and refusals of the app, measured while somebody waits")
    func measured() throws {
        let fixture = EdgeFixture()
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        for channel in ["lobby", "quiet"] {
            anna.subscribe(channel == "lobby" ? 3 : 4, channel, .message)
            fixture.presence.answerJoin()
            fixture.pass()
        }
        // Neither what came before is counted, nor are other apps.
        for number in 10..<20 as Range<UInt64> { ben.publish(number, to: "quiet", bytes: 1) }
        ben.publish(20, to: "bad\u{1}name", bytes: 1)
        ben.publish(21, to: "bad\u{1}name", bytes: 1)
        anna.subscribe(5, "bad\u{1}name")
        fixture.pass()
        #expect(!fixture.edge.userLog.isActive)
        ask(fixture, EdgeTop(limit: 10, measure: .milliseconds(500)))
        #expect(fixture.edge.userLog.isActive)
        for number in 30..<33 as Range<UInt64> { ben.publish(number, to: "lobby", bytes: 100) }
        ben.publish(33, to: "quiet", bytes: 1)
        anna.publish(34, to: "lobby", bytes: 10)
        anna.isReading = false
        ben.publish(35, to: "lobby", bytes: 30_000)
        #expect(try answers(fixture).isEmpty)
        fixture.pass(.milliseconds(500))
        #expect(!fixture.edge.userLog.isActive, "a message costs nothing any more")
        let top = try #require(try answers(fixture).last)
        #expect(!top.isBusy && top.measured >= .milliseconds(500) && top.channelsOmitted == 0)
        #expect(top.channels.map(\.channel.name).prefix(2) == ["lobby", "quiet"])
        #expect(top.channels.first?.entries == 5 && top.channels.first?.subscribers == 1)
        #expect(top.channels.dropFirst().first?.entries == 1)
        #expect(top.publishers.map(\.session.userID) == ["ben", "anna"])
        #expect(top.publishers.map(\.messages) == [5, 1] && top.publishers[0].bytes == 30_301)
        #expect(top.queues.map(\.userID) == ["anna"] && top.queues[0].queuedBytes > 30_000)
        #expect(top.refused.map(\.userID) == ["ben", "anna"] && top.refused.map(\.count) == [2, 1])
        #expect(top.refused.map(\.kind) == [.publishRefused, .subscribeRefused])
        // A second one begins anew.
        ask(fixture, EdgeTop(limit: 1, measure: .milliseconds(100)))
        fixture.pass(.milliseconds(100))
        let second = try #require(try answers(fixture).last)
        #expect(second.channels.isEmpty && second.publishers.isEmpty && second.refused.count == 1)
        fixture.end()
    }

    @Test("W-79: one app at a time; who asks for the same one gets the same answer")
    func oneAtATime() throws {
        let fixture = EdgeFixture()
        let ben = fixture.client("ben")
        ask(fixture, EdgeTop(limit: 10, measure: .seconds(60)))
        ben.publish(10, to: "lobby", bytes: 1)
        ask(fixture, EdgeTop(limit: 10, measure: .seconds(1)), number: 2)
        ask(fixture, EdgeTop(limit: 10, measure: .seconds(1)), app: "other", number: 3)
        #expect(try answers(fixture).map(\.isBusy) == [true])
        // Nobody waits for longer than storage does.
        fixture.pass(.seconds(1))
        let ended = Array(try answers(fixture).dropFirst())
        #expect(ended.map(\.isBusy) == [false, false], "\(ended)")
        #expect(ended.allSatisfy { $0.publishers.map(\.messages) == [1] })
        ask(fixture, EdgeTop(limit: 10, measure: .milliseconds(1)), app: "other", number: 4)
        fixture.pass(.seconds(1))
        let other = try #require(try answers(fixture).last)
        #expect(!other.isBusy && other.publishers.isEmpty)
        fixture.end()
    }
}
