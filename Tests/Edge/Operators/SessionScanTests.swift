import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("The sessions that gateways ask for") struct SessionScanTests {
    /// A connection that was logged in at a time.
    private final class Connection: SessionConnection {
        let origin: ConnectionOrigin
        init(since: UInt64?) { origin = ConnectionOrigin(address: "192.0.2.1", client: "c", since: since) }
        func send(_ frames: ByteBuffer) {}
        func write(_ encode: (inout ByteBuffer) -> Void) {}
        func loginSucceeded(
            _ session: Session, inbox position: StreamPosition, gap: Bool, _ requestID: UInt64
        ) {}
        func refuseLogin(_ error: RTMError, _ requestID: UInt64) {}
        var isWritable: Bool { true }
        func whenWritable(_ body: @escaping () -> Void) {}
        func pauseReading() {}
        func resumeReading() {}
        func disconnect(_ reason: Disconnect) {}
        func replaced() {}
    }

    private func add(_ user: String, app: String = "app", since: UInt64? = 5, _ id: UInt64, to all: Sessions)
    {
        let application = Application(id: app, subscriptionsMax: 50, rates: .unlimited)
        _ = all.add(SessionID(rawValue: id)) { key in
            Session(
                key: key, application: application, userID: user, heartbeatInterval: 5,
                connection: Connection(since: since))
        }
    }

    private func page(_ sessions: Sessions, _ query: EdgeQuery) -> EdgeFindings {
        var scan = SessionScan(query)
        while true {
            if let found = scan.look(in: sessions, channels: { Int($0.slot) }) { return found }
        }
    }

    @Test("W-28: each session of the app once, by user and session, whatever the size of a page")
    func pages() throws {
        let sessions = Sessions()
        let users = (0..<5_000).map { "user\($0)" }
        for (number, user) in users.shuffled().enumerated() { add(user, UInt64(number), to: sessions) }
        add("user1", 9_000, to: sessions)
        add("user1", app: "other", 9_001, to: sessions)
        add("user1", since: nil, 9_002, to: sessions)
        for limit in [1_000, 777] as [UInt32] {
            var (found, query) = ([EdgeSession](), EdgeQuery(appID: "app", limit: limit))
            while true {
                let page = page(sessions, query)
                #expect(page.sessions.count <= Int(limit) && page.total == 5_001)
                found += page.sessions
                guard page.hasMore, let last = page.sessions.last else { break }
                (query.afterUser, query.afterSession) = (last.userID, last.sessionID)
            }
            #expect(found.map(\.userID) == (users + ["user1"]).sorted())
            #expect(found.filter { $0.userID == "user1" }.map(\.sessionID).last == 9_000)
        }
        let some = page(sessions, EdgeQuery(appID: "app", limit: 1, prefix: "user49"))
        #expect(some.total == 111 && some.sessions.map(\.userID) == ["user49"] && some.hasMore)
        #expect(
            some.sessions.map(\.address) == ["192.0.2.1"] && some.sessions.map(\.sinceMilliseconds) == [5])
        let one = page(sessions, EdgeQuery(appID: "app", limit: 10, userID: "user1"))
        #expect(one.sessions.count == 2 && !one.hasMore)
    }
}
