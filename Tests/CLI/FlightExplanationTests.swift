import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("What rtm doctor says of a client's record") struct FlightExplanationTests {
    private typealias Entry = FlightRecord.Entry

    private func explain(_ entries: [Entry]) -> [String] {
        FlightExplanation(
            FlightRecord(userID: "anna", servers: ["edge:7710"], exportedAt: 90_000_000, entries: entries)
        ).lines
    }

    @Test("a loss with its silence, and the return")
    func loss() {
        let lines = explain([
            Entry(at: 3_600_000, kind: .link, name: "connected", code: 2),
            Entry(at: 3_601_000, until: 3_605_000, kind: .received, name: "HeartbeatAck", count: 2),
            Entry(at: 3_615_500, kind: .link, name: "disconnected", reason: "no answer to a heartbeat"),
            Entry(at: 3_617_800, kind: .link, name: "connected", code: 10),
        ])
        #expect(
            lines == [
                "anna at edge:7710, from 01:00:00.000 to 01:00:17.800 UTC: 4 entries.",
                "01:00:15.500 The link was lost: no answer to a heartbeat. Nothing had come from the server for "
                    + "10.5 s: the network was away, or the server.",
                "01:00:17.800 The client was back after 2.3 s.",
            ])
    }

    @Test("refusals by their number with advice, slow calls, gaps, an end")
    func calls() {
        let lines = explain([
            Entry(at: 1_000, kind: .calls, name: "publish", count: 7, code: -11_025, reason: "too often"),
            Entry(at: 2_000, kind: .calls, name: "subscribe", longest: 4_200),
            Entry(at: 3_000, kind: .calls, name: "publish", longest: 80),
            Entry(at: 4_000, kind: .gap, name: "message"),
            Entry(at: 5_000, kind: .link, name: "failed", code: 20, reason: "a login elsewhere"),
        ])
        #expect(lines.count == 5)
        #expect(
            lines[1].hasPrefix("00:00:05.000 The link failed for good: a login elsewhere (reason 20)."))
        #expect(lines[2].hasPrefix("7 of publish failed with -11025, first at 00:00:01.000: too often."))
        #expect(lines[2].contains("retryAfter"))
        #expect(lines[3] == "00:00:02.000 A subscribe took 4.2 s, and succeeded.")
        #expect(lines[4].contains("gap in a channel (message)"))
    }

    @Test("who is away still, a quiet record, an empty one")
    func others() {
        #expect(
            explain([Entry(at: 89_999_000, kind: .link, name: "disconnected", reason: "reset")]).last
                == "The client was still away 1.0 s later.")
        #expect(explain([Entry(at: 1, kind: .calls, name: "login", longest: 30)]).last == "Nothing unusual.")
        #expect(explain([])[0].contains("is empty"))
    }

    @Test(
        "a file that is no record is refused with a sentence",
        arguments: [
            ("", "is no record of a client"), ("{}", "is no record of a client"),
            (#"{"version":2}"#, "is of version 2, and this rtm reads up to 1"),
            (#"{"version":1,"userID":7}"#, "is no record of a client"),
        ])
    func badFiles(_ text: String, _ why: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        #expect { try FlightRecord(file: file.path) } throws: { error in
            (error as? RTMError)?.code == .invalidParameter && "\(error)".contains(why)
        }
        #expect { try FlightRecord(file: "/nowhere") } throws: { "\($0)".contains("can't be read") }
    }

    @Test("what a client exports is read again")
    func roundTrip() throws {
        let record = FlightRecord(
            userID: "anna", servers: ["a", "b"], exportedAt: 5,
            entries: [Entry(at: 1, until: 4, kind: .sent, name: "Publish", count: 3, bytes: 300)])
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try record.json().write(to: file)
        #expect(try FlightRecord(file: file.path) == record)
    }
}
