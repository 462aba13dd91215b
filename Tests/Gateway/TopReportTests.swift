import RTMModel
import RTMWire
import Testing

@testable import RTMGatewayServer

@Suite("What is slow and loud, put together") struct TopReportTests {
    private func session(_ user: String, _ number: UInt64 = 1, queued: UInt64 = 0) -> EdgeSession {
        EdgeSession(userID: user, sessionID: number, queuedBytes: queued)
    }

    private func busy(_ name: String, _ entries: UInt64, _ subscribers: UInt32) -> BusyChannel {
        let key = ChannelKey(appID: "app", type: .message, name: name)
        return BusyChannel(channel: key, entries: entries, subscribers: subscribers)
    }

    @Test("W-79: a channel's entries come to each loop, its subscribers are those of all")
    func channels() {
        let report = TopReport(
            [
                EdgeTopFindings(
                    measured: .milliseconds(500), channels: [busy("a", 10, 3), busy("b", 100, 1)],
                    channelsOmitted: 2),
                EdgeTopFindings(
                    measured: .seconds(1), channels: [busy("a", 20, 7), busy("c", 1, 1)], channelsOmitted: 1),
            ], limit: 2)
        #expect(report.channels.map(\.channel) == ["a", "b"])
        #expect(report.channels.map(\.subscribers) == [10, 1])
        #expect(report.channels.map(\.entriesPerSecond) == [20, 200])
        #expect(report.channels.map(\.deliveriesPerSecond) == [200, 200])
        #expect(report.measured == 1_000 && report.channelsOmitted == 3)
    }

    @Test("W-79: queues, publishers and refusals of all loops, the largest first")
    func sessions() {
        let first = EdgeTopFindings(
            measured: .milliseconds(500), queues: [session("a", queued: 5), session("b", queued: 3)],
            publishers: [LoudSession(session: session("a"), messages: 10, bytes: 100)],
            refused: [
                RefusedUser(
                    userID: "a", kind: .publishRefused, count: 2, atMilliseconds: 50, reason: "newer")
            ], refusedSinceMilliseconds: 7)
        let second = EdgeTopFindings(
            measured: .seconds(1), queues: [session("c", queued: 9)],
            publishers: [LoudSession(session: session("c"), messages: 15, bytes: 10)],
            refused: [
                RefusedUser(
                    userID: "b", kind: .publishRefused, count: 5, atMilliseconds: 1, reason: "b"),
                RefusedUser(
                    userID: "a", kind: .publishRefused, count: 4, atMilliseconds: 40, reason: "older"),
                RefusedUser(
                    userID: "a", kind: .subscribeRefused, count: 1, atMilliseconds: 60, reason: "other"),
            ], refusedSinceMilliseconds: 3)
        let report = TopReport([first, second], limit: 2)
        #expect(report.queues.map(\.user) == ["c", "a"])
        #expect(report.publishers.map(\.user) == ["a", "c"])
        #expect(report.publishers.map(\.messagesPerSecond) == [20, 15])
        #expect(report.publishers.map(\.bytesPerSecond) == [200, 10])
        #expect(report.refused.map(\.user) == ["a", "b"] && report.refused.map(\.count) == [6, 5])
        #expect(report.refused[0].reason == "newer" && report.refused[0].last == 50)
        #expect(report.refusedSince == 7)
        let none = TopReport([], limit: 2)
        #expect(none.refusedSince == nil && none.measured == 0 && none.queues.isEmpty)
    }

    @Test("a time is from 100 ms to a second")
    func time() throws {
        #expect(try TopRoutes.time("250ms") == .milliseconds(250) && TopRoutes.time("1s") == .seconds(1))
        for wrong in ["99ms", "1001ms", "2s", "1", "", "-1s", "s"] {
            #expect(throws: APIError.self, "\(wrong)") { try TopRoutes.time(wrong) }
        }
    }
}
