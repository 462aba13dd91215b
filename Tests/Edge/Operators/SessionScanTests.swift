import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

@Suite("The sessions that gateways ask for") struct SessionScanTests {
    /// A connection that was logged in at a time.
    private final class Connection: SessionConnection {
        let origin: ConnectionOrigin
        var waitingBytes: Int
        init(since: UInt64?, waitingBytes: Int) {
            origin = ConnectionOrigin(address: "192.0.2.1", client: "c", since: since)
            self.waitingBytes = waitingBytes
        }
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

    @discardableResult
    private func add(
        _ user: String, app: String = "app", since: UInt64? = 5, waiting: Int = 0, _ id: UInt64,
        to all: Sessions
    ) -> Connection {
        let connection = Connection(since: since, waitingBytes: waiting)
        let application = Application(id: app, subscriptionsMax: 50, rates: .unlimited)
        _ = all.add(SessionID(rawValue: id)) { key in
            Session(
                key: key, application: application, userID: user, heartbeatInterval: 5,
                connection: connection)
        }
        return connection
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
        let session = page(sessions, EdgeQuery(appID: "app", limit: 10, sessionID: 9_000))
        #expect(session.sessions.map(\.userID) == ["user1"] && session.total == 1)
    }

    @Test("W-28: by queue, those for whom the most waits first, whatever the size of a page")
    func byQueue() throws {
        let sessions = Sessions()
        for number in (0..<900).shuffled() {
            add("user\(number)", waiting: number / 3, UInt64(number), to: sessions)
        }
        add("other", app: "other", waiting: 5_000, 9_000, to: sessions)
        let expected = (0..<900).map { (waiting: $0 / 3, user: "user\($0)") }
            .sorted { ($1.waiting, $0.user) < ($0.waiting, $1.user) }.map(\.user)
        for limit in [1_000, 100, 7] as [UInt32] {
            var (found, query) = ([EdgeSession](), EdgeQuery(appID: "app", limit: limit, isByQueue: true))
            while true {
                let page = page(sessions, query)
                found += page.sessions
                guard page.hasMore, let last = page.sessions.last else { break }
                (query.afterUser, query.afterSession) = (last.userID, last.sessionID)
                query.afterQueued = last.queuedBytes
            }
            #expect(found.map(\.userID) == expected, "\(limit)")
        }
    }

    @Test("W-28: a queue that has grown while others had their turns is the one that it was ordered by")
    func growingQueue() throws {
        let sessions = Sessions()
        let first = add("user0", waiting: 10, 1, to: sessions)
        for number in 1...SessionScan.slotsPerTurn {
            add("user\(number)", waiting: 5, UInt64(number) + 1, to: sessions)
        }
        var scan = SessionScan(EdgeQuery(appID: "app", limit: 1, isByQueue: true))
        #expect(scan.look(in: sessions, channels: { _ in 0 }) == nil)
        first.waitingBytes = 99
        let page = scan.look(in: sessions, channels: { _ in 0 })
        let found = try #require(page)
        #expect(found.sessions.map(\.userID) == ["user0"] && found.sessions.map(\.queuedBytes) == [10])
    }
}
