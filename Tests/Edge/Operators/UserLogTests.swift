import Logging
import NIOCore
import NIOEmbedded
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("What the log says about users")
struct UserLogTests {
    private let lines = Shared<[String]>([])

    private var logger: Logger {
        var logger = Logger(label: "edge") { label in
            JSONLogHandler(
                label: label, now: { "now" }, write: { [lines] line in lines.withLock { $0.append(line) } })
        }
        logger.logLevel = .info
        return logger
    }

    private func lines(with message: String) -> [String] {
        lines.present.filter { $0.contains("\"message\":\"\(message)\"") }
    }

    private func raise(_ user: String, _ level: Logger.Level, for time: TimeAmount, in fixture: EdgeFixture)
        -> Bool
    {
        fixture.edge.userLog.raise(
            .init(appID: "app", userID: user),
            .init(level: level, until: fixture.time.now + time, untilMilliseconds: 0))
    }

    @Test("a refused subscribe and a refused publish leave a line each with app, user, channel and cause")
    func refusals() throws {
        let fixture = EdgeFixture(logger: logger)
        let anna = fixture.client("anna")
        anna.subscribe(3, "bad\u{1}name")
        anna.publish(4, to: "", bytes: 1)
        for (message, channel) in [("subscribe refused", "bad\\u0001name"), ("publish refused", "")] {
            let found = lines(with: message)
            #expect(found.count == 1)
            let line = try #require(found.first)
            for part in [
                "\"app\":\"app\"", "\"user\":\"anna\"", "\"channel\":\"\(channel)\"", "\"cause\":\"",
                "\"code\":-",
            ] {
                #expect(line.contains(part), "\(line)")
            }
        }
        fixture.end()
    }

    @Test("a subscribe that another service refuses has its line, too")
    func refusedElsewhere() throws {
        let fixture = EdgeFixture(logger: logger)
        let anna = fixture.client("anna")
        anna.subscribe(3, "lobby")
        fixture.presence.refuse(
            PresenceMethod.join.number, RTMError(.channelSubscribeFailed, "the channel is full"))
        fixture.pass()
        let line = try #require(lines(with: "subscribe refused").first)
        #expect(line.contains("\"channel\":\"lobby\"") && line.contains("the channel is full"), "\(line)")
        fixture.end()
    }

    @Test(
        "each cause has lines of its own, ten at once and one a second; the next one says how many were left out"
    )
    func sampled() {
        let fixture = EdgeFixture(logger: logger)
        let anna = fixture.client("anna")
        for number in 0..<100 { anna.subscribe(10 + UInt64(number), "") }
        #expect(lines(with: "subscribe refused").count == 10)
        anna.publish(200, to: "", bytes: 1)
        #expect(lines(with: "publish refused").count == 1, "another cause")
        fixture.pass(.seconds(1))
        anna.subscribe(300, "")
        #expect(lines(with: "subscribe refused").count == 11)
        #expect(lines(with: "subscribe refused").last?.contains("\"omitted\":90") == true)
        fixture.end()
    }

    @Test(
        "a raised level shows what the user asks and all refusals, and nothing of others; it ends by itself")
    func raised() throws {
        let fixture = EdgeFixture(logger: logger)
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        anna.subscribe(3, "before")
        #expect(!fixture.edge.userLog.isActive && lines(with: "request").isEmpty)
        #expect(raise("anna", .debug, for: .seconds(60), in: fixture))
        anna.subscribe(4, "lobby")
        ben.subscribe(4, "garden")
        anna.publish(5, to: "lobby", bytes: 1)
        let requests = lines(with: "request")
        #expect(requests.count == 1)
        #expect(requests.first?.contains("\"kind\":\"subscribe\"") == true)
        #expect(requests.first?.contains("\"channel\":\"lobby\"") == true)
        #expect(requests.first?.contains("\"level\":\"debug\"") == true, "\(requests)")
        for number in 0..<50 { anna.subscribe(10 + UInt64(number), "") }
        #expect(lines(with: "subscribe refused").count == 50, "all of them")
        #expect(raise("anna", .trace, for: .seconds(60), in: fixture))
        anna.publish(70, to: "lobby", bytes: 2)
        let last = try #require(lines(with: "request").last)
        #expect(last.contains("\"kind\":\"publish\"") && last.contains("\"bytes\":2"), "\(last)")
        fixture.pass(.seconds(59))
        #expect(fixture.edge.userLog.isActive)
        fixture.pass(.seconds(1))
        #expect(!fixture.edge.userLog.isActive)
        let count = lines(with: "request").count
        anna.subscribe(80, "garden")
        #expect(lines(with: "request").count == count)
        fixture.end()
    }

    @Test("a level that is raised again has its new end, and so many users may have one")
    func again() {
        let fixture = EdgeFixture(logger: logger)
        #expect(raise("anna", .debug, for: .seconds(10), in: fixture))
        #expect(raise("anna", .debug, for: .seconds(100), in: fixture))
        fixture.pass(.seconds(50))
        #expect(fixture.edge.userLog.isActive)
        for number in 1..<RaisedLevels.countMax {
            #expect(raise("user \(number)", .debug, for: .seconds(100), in: fixture))
        }
        #expect(!raise("one more", .debug, for: .seconds(100), in: fixture))
        #expect(raise("anna", .trace, for: .seconds(100), in: fixture))
        #expect(fixture.edge.userLog.end(.init(appID: "app", userID: "user 1")))
        #expect(!fixture.edge.userLog.end(.init(appID: "app", userID: "user 1")))
        #expect(raise("one more", .debug, for: .seconds(100), in: fixture))
        fixture.end()
    }
}
