import Foundation
import Logging
import Testing

@testable import RTMServiceKit

@Suite("Log lines")
struct LogHandlerTests {
    private let lines = ProgramLog()

    private func json(_ label: String = "relay") -> Logger {
        Logger(label: label) { [lines] in
            JSONLogHandler(label: $0, now: { "2026-11-21T08:15:30.042Z" }, write: { lines.note($0) })
        }
    }

    private func text() -> Logger {
        Logger(label: "relay") { [lines] in
            TextLogHandler(label: $0, now: { "2026-11-21T08:15:30.042Z" }, write: { lines.note($0) })
        }
    }

    @Test("a JSON line is one object with time, level, logger, message and the metadata in its own types")
    func jsonLine() throws {
        var logger = json()
        logger[metadataKey: "session"] = "s-1"
        logger.info(
            "accepted",
            metadata: [
                "count": .stringConvertible(3), "open": .stringConvertible(true), "message": "clash",
                "list": ["a", "b"], "map": ["x": "1"], "session": "s-2",
            ])
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1)
        #expect(line.hasSuffix("}\n") && line.dropLast().allSatisfy { !$0.isNewline })
        let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["time"] as? String == "2026-11-21T08:15:30.042Z")
        #expect(object["level"] as? String == "info")
        #expect(object["logger"] as? String == "relay")
        #expect(object["message"] as? String == "accepted")
        #expect(object["_message"] as? String == "clash")
        #expect(object["count"] as? Int == 3)
        #expect(object["open"] as? Bool == true)
        #expect(object["list"] as? [String] == ["a", "b"])
        #expect(object["map"] as? [String: String] == ["x": "1"])
        #expect(object["session"] as? String == "s-2")
    }

    @Test("the newest warnings are kept with their causes, and all else passes by")
    func recentWarnings() throws {
        let kept = RecentWarnings()
        var logger = Logger(label: "relay") { [lines] in
            WarningLogHandler(
                handler: JSONLogHandler(label: $0, now: { "now" }, write: { lines.note($0) }), label: $0,
                now: { "2026-11-21T08:15:30.042Z" }, kept: kept)
        }
        logger.logLevel = .debug
        logger[metadataKey: "cause"] = "no road"
        logger.info("accepted")
        logger.warning("link down", metadata: ["user": "alice", "app": "shop", "service": "storage"])
        #expect(lines.all.count == 2)
        let line = RecentWarnings.Line(
            time: "2026-11-21T08:15:30.042Z", level: "warning", logger: "relay", message: "link down",
            subject: "service=storage app=shop", cause: "no road")
        #expect(kept.lines == [line])
        for number in 0..<RecentWarnings.countMax { logger.error("number \(number)") }
        #expect(kept.lines.count == RecentWarnings.countMax)
        #expect(kept.lines.first?.message == "number 0" && kept.lines.last?.message == "number 99")
    }

    @Test("an integer that most readers of JSON would round is a text")
    func largeIntegers() throws {
        json().info(
            "x",
            metadata: [
                "exact": .stringConvertible(UInt64(1) << 53), "large": .stringConvertible(UInt64.max),
                "odd": .stringConvertible(UInt64(1) << 53 + 1), "negative": .stringConvertible(Int64.min),
            ])
        let line = try #require(lines.all.first)
        #expect(line.contains(#""exact":9007199254740992,"#))
        #expect(line.contains(#""large":"18446744073709551615""#))
        #expect(line.contains(#""odd":"9007199254740993""#))
        #expect(line.contains(#""negative":"-9223372036854775808""#))
    }

    @Test("hostile text stays inside its JSON string and its line, and comes back unchanged")
    func hostileJSON() throws {
        let hostile = "a\"b\\c\n{\"level\":\"x\"}\u{0}\u{1B}[31m\u{2028}\u{85}\u{202E}\u{2066}é🙂\r\n\u{7F}"
        json().warning("x", metadata: ["user": "\(hostile)", "\(hostile)": "v"])
        let line = try #require(lines.all.first)
        #expect(line.dropLast().unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
        let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
        #expect(object["user"] == hostile)
        #expect(object[hostile] == "v")
    }

    @Test("a text line has time of day, level, logger, message and pairs; values can't forge a line")
    func textLine() {
        text().notice(
            "started", metadata: ["b": "two words", "a": "1", "c": "x\ny", "d": "", "e": ["k": "v"]])
        #expect(
            lines.all == [
                "08:15:30.042 notice   relay: started a=1 b=\"two words\" c=\"x\\ny\" d=\"\" e={k: v}\n"
            ])
    }

    @Test("an error given to a log call becomes metadata")
    func error() {
        text().error("failed", error: ValueRefusal("is bad"))
        #expect(lines.all.first?.contains("error=\"ValueRefusal(reason: \\\"is bad\\\")\"") == true)
    }

    @Test("below its level a logger writes nothing, and levels belong to each logger")
    func levels() {
        var quiet = text()
        quiet.logLevel = .error
        quiet.info("x")
        #expect(lines.all.isEmpty)
        text().info("x")
        #expect(lines.all.count == 1)
    }

    @Test(
        "timestamps are RFC 3339 in UTC with milliseconds",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000Z"), (951_782_400, 7, "2000-02-29T00:00:00.007Z"),
            (1_795_249_065, 999, "2026-11-21T08:17:45.999Z"), (4_107_542_399, 42, "2100-02-28T23:59:59.042Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"), (1_735_689_599, 1, "2024-12-31T23:59:59.001Z"),
        ])
    func timestamps(seconds: Int, milliseconds: Int, text: String) {
        #expect(Timestamp.text(secondsSince1970: seconds, milliseconds: milliseconds) == text)
    }
}
