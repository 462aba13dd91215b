import Foundation
import RTMAccessToken
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMTokenTestSupport
import SwiftProtobuf
import Testing

/// What one user may do is decided once, and holds at every door: an edge, its WebSocket, the HTTP interface
/// with the user's token, and SQL.
@Suite(.serialized, .ends(withinMinutes: 3)) struct PermissionDoorTests {
    private typealias Body = Rtm_Client_ClientFrame.OneOf_Body

    /// How an operator has set `edge.permissions`.
    private enum Setting: String, CaseIterable { case everybody, granted }

    /// What mallory tries, who has a token without permissions and has joined nothing.
    private struct Attempt {
        let name: String
        let body: Body
        /// The same over HTTP, behind the app's path.
        let http: (method: String, path: String, json: String?)
        /// What it is refused with, and under which settings; it isn't refused under the others.
        let refusal: ErrorCode
        let isRefused: (Setting) -> Bool
    }

    private static func attempt(
        _ name: String, _ body: Body, _ method: String, _ path: String, _ json: String? = nil,
        _ refusal: ErrorCode = .storagePermissionDenied,
        refusedIf isRefused: @escaping (Setting) -> Bool = { $0 == .granted }
    ) -> Attempt {
        Attempt(name: name, body: body, http: (method, path, json), refusal: refusal, isRefused: isRefused)
    }

    private static func write(
        _ kind: Rtm_Client_MetadataWriteKind, _ target: String, _ type: Rtm_Client_ChannelType = .none
    ) -> Body {
        .writeMetadata(
            .with {
                ($0.channelType, $0.target, $0.kind) = (type, target, kind)
                $0.items = [.with { ($0.key, $0.value) = ("k", "v") }]
            })
    }

    private static let item = #"{"items": [{"key": "k", "value": "v"}]}"#

    /// One line for each rule of permission that a user meets (D-15, D-16, H-2, K-9, K-18).
    private static var table: [Attempt] {
        [
            attempt(
                "D-16: sets another user's metadata", write(.metadataSet, "victim"), "PUT",
                "metadata?user=victim", item),
            attempt(
                "D-16: updates another user's metadata", write(.metadataUpdate, "victim"), "PATCH",
                "metadata?user=victim", item),
            attempt(
                "D-16: removes another user's metadata", write(.metadataRemove, "victim"), "DELETE",
                "metadata?user=victim", "{}"),
            attempt(
                "D-16: sets its own", write(.metadataSet, "mallory"), "PUT", "metadata?user=mallory", item,
                refusedIf: { _ in false }),
            attempt(
                "D-16: reads another user's",
                .getMetadata(.with { ($0.channelType, $0.target) = (.none, "victim") }), "GET",
                "metadata?user=victim", refusedIf: { _ in false }),
            attempt(
                "K-9: removes a lock", .removeLock(.with { lock(&$0.channelType, &$0.channel, &$0.name) }),
                "DELETE", "locks/l?channel=lobby", nil, .lockOperationFailed),
            attempt(
                "K-9: revokes a lock",
                .revokeLock(
                    .with {
                        lock(&$0.channelType, &$0.channel, &$0.name)
                        $0.owner = "victim"
                    }), "POST", "locks/l/revoke?channel=lobby", #"{"owner": "victim"}"#,
                .lockOperationFailed),
            attempt(
                "K-1: makes a lock",
                .setLock(
                    .with {
                        lock(&$0.channelType, &$0.channel, &$0.name)
                        $0.ttlS = 10
                    }), "PUT", "locks/l?channel=lobby", #"{"ttl": 10}"#, .lockOperationFailed,
                refusedIf: { _ in false }),
            attempt(
                "D-15: writes the metadata of a stream channel", write(.metadataSet, "stage", .stream),
                "PUT", "metadata?channel=stage&type=stream", item, .storageNotSubscribe,
                refusedIf: { _ in true }),
            attempt(
                "D-15: reads the metadata of a stream channel",
                .getMetadata(.with { ($0.channelType, $0.target) = (.stream, "stage") }), "GET",
                "metadata?channel=stage&type=stream", nil, .storageNotSubscribe, refusedIf: { _ in true }),
            attempt(
                "K-18: asks for the locks of a stream channel",
                .getLocks(.with { ($0.channelType, $0.channel) = (.stream, "stage") }), "GET",
                "locks?channel=stage&type=stream", nil, .channelNotJoined, refusedIf: { _ in true }),
            attempt(
                "K-18: makes a lock in a stream channel",
                .setLock(
                    .with {
                        ($0.channelType, $0.channel, $0.name, $0.ttlS) = (.stream, "stage", "l", 10)
                    }), "PUT", "locks/l?channel=stage&type=stream", #"{"ttl": 10}"#, .channelNotJoined,
                refusedIf: { _ in true }),
            attempt(
                "D-15: writes the metadata of a message channel", write(.metadataSet, "lobby", .message),
                "PUT", "metadata?channel=lobby", item, refusedIf: { _ in false }),
            attempt(
                "H-2: reads another user's inbox",
                .getHistory(
                    .with { ($0.channelType, $0.channel, $0.count) = (.user, "victim", 10) }), "GET",
                "history?user=victim&limit=10", nil, .historyOperationNotPermitted,
                refusedIf: { _ in true }),
            attempt(
                "P-30: asks who is in a stream channel",
                .whoNow(.with { ($0.channelType, $0.channel) = (.stream, "stage") }), "GET",
                "presence?channel=stage&type=stream", nil, .channelNotJoined, refusedIf: { _ in false }),
        ]
    }

    private static func lock(
        _ type: inout Rtm_Client_ChannelType, _ channel: inout String, _ name: inout String
    ) {
        (type, channel, name) = (.message, "lobby", "l")
    }

    // MARK: Doors

    private static func token(_ permissions: TokenPermissions? = nil) throws -> String {
        try SampleApp.token(
            for: "mallory", endsAt: WallClock.milliseconds() / 1000 + 300, permissions: permissions)
    }

    private static func login(_ token: String) -> Body {
        .login(.with { ($0.appID, $0.userID, $0.token) = (SampleApp.id, "mallory", token) })
    }

    /// What each attempt is refused with at an edge; nil for one that isn't.
    private func refusals(atEdge address: String, _ bodies: [Body], token: String) async throws
        -> [Int?]
    {
        let connection = try await RawConnection.open(address)
        var frames = connection.frames.makeAsyncIterator()
        return try await refusals(bodies, token: token) {
            try await connection.send($0, $1)
        } next: {
            await frames.next(isolation: #isolation)
        }
    }

    private func refusals(atWebSocket address: String, _ bodies: [Body], token: String) async throws
        -> [Int?]
    {
        let connection = try await RawWebSocket.open(address)
        var events = connection.events.makeAsyncIterator()
        return try await refusals(bodies, token: token) {
            try await connection.send($0, $1)
        } next: {
            while let event = await events.next(isolation: #isolation) {
                if case .frame(let frame) = event { return frame }
            }
            return nil
        }
    }

    private func refusals(
        _ bodies: [Body], token: String, send: (UInt64, Body) async throws -> Void,
        next: () async throws -> Rtm_Client_ServerFrame?
    ) async throws -> [Int?] {
        var answers: [Int?] = []
        for (number, body) in ([RawWebSocket.hello(), Self.login(token)] + bodies).enumerated() {
            let id = UInt64(number + 1)
            try await send(id, body)
            while let frame = try await next() {
                guard frame.requestID == id else { continue }
                if case .error(let error) = frame.body {
                    answers.append(error.code.rawValue)
                } else {
                    answers.append(nil)
                }
                break
            }
        }
        try #require(answers.count == bodies.count + 2 && answers.prefix(2).allSatisfy { $0 == nil })
        return Array(answers.dropFirst(2))
    }

    private func refusal(overHTTP gateway: GatewaySystem, _ attempt: Attempt, token: String) async throws
        -> (status: Int, code: Int?)
    {
        let (method, path, json) = attempt.http
        let answer = try await gateway.call(
            method, "/v1/\(SampleApp.id)/\(path)", key: nil, json,
            headers: ["x-agora-token": token, "x-agora-uid": "mallory"])
        return (answer.status, answer.int("error", "code"))
    }

    // MARK: Tests

    @Test(
        "A-15, D-15, D-16, H-2, K-9, K-18: one table of what a user may do holds at every door",
        arguments: [Deployment.standalone, .fourProcesses])
    func doors(_ deployment: Deployment) async throws {
        for setting in Setting.allCases {
            let permissions = "{userMetadata: \(setting), revokeLocks: \(setting)}"
            try await GatewaySystem.with(deployment, permissions: permissions) { gateway in
                let (table, token) = (Self.table, try Self.token())
                let bodies = table.map(\.body)
                let edge = try await refusals(
                    atEdge: gateway.system.address("edge"), bodies, token: token)
                let webSocket = try await refusals(
                    atWebSocket: gateway.system.address("edge.webSocket"), bodies, token: token)
                for (index, attempt) in table.enumerated() {
                    let http = try await refusal(overHTTP: gateway, attempt, token: token)
                    let doors = [("edge", edge[index]), ("WebSocket", webSocket[index]), ("HTTP", http.code)]
                    for (door, code) in doors {
                        let isRefused = code == attempt.refusal.rawValue
                        #expect(
                            isRefused == attempt.isRefused(setting),
                            "\(setting), \(door): \(attempt.name): \(code ?? 0)")
                    }
                    #expect(http.status < 500, "\(setting): \(attempt.name)")
                    // The app's own server has a key, and may.
                    let (method, path, json) = attempt.http
                    let own = try await gateway.call(
                        method, "/v1/\(SampleApp.id)/\(path)", key: "certified", json)
                    #expect(own.int("error", "code") != attempt.refusal.rawValue, "\(attempt.name)")
                }
            }
        }
    }

    @Test("A-15, W-1: a token that lists the user may at an edge, and is none over HTTP")
    func granted() async throws {
        let permissions = "{userMetadata: granted, revokeLocks: granted}"
        try await GatewaySystem.with(permissions: permissions) { gateway in
            let token = try Self.token(.channels(read: [], write: ["lobby"], users: ["victim"]))
            let listed = Self.table.filter { $0.isRefused(.granted) && !$0.isRefused(.everybody) }
            for door in ["edge", "edge.webSocket"] {
                let address = gateway.system.address(door)
                let codes =
                    door == "edge"
                    ? try await refusals(atEdge: address, listed.map(\.body), token: token)
                    : try await refusals(atWebSocket: address, listed.map(\.body), token: token)
                for (attempt, code) in zip(listed, codes) {
                    #expect(code != attempt.refusal.rawValue, "\(door): \(attempt.name)")
                }
            }
            for attempt in Self.table {
                let http = try await refusal(overHTTP: gateway, attempt, token: token)
                #expect(http.status == 403 && http.code == ErrorCode.loginNotAuthorized.rawValue)
            }
        }
    }

    @Test(
        "SQL: a role to which nothing is granted publishes nothing, and changes nothing of others",
        .withPostgreSQL)
    func sql() async throws {
        try await RunningPostgres.with { server in
            try await RunningSystem.with(.standalone, edge: ["--storage-database", server.url]) { _ in
                try server.query(
                    "CREATE ROLE mallory LOGIN; GRANT USAGE ON SCHEMA heliograph TO mallory")
                let tables = try server.query(
                    "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'heliograph'"
                ).split(separator: ",")
                #expect(tables.count > 5 && tables.contains("metadata") && tables.contains("locks"))
                let statements =
                    ["SELECT heliograph.heliograph_publish('dev', 'lobby', 'x', publisher => 'victim')"]
                    + tables.flatMap {
                        ["SELECT * FROM heliograph.\($0)", "DELETE FROM heliograph.\($0)"]
                    }
                for statement in statements {
                    let refused = #expect(throws: ServiceProcessFailure.self) {
                        try server.query("SET ROLE mallory; \(statement)")
                    }
                    #expect(refused?.description.contains("permission denied") == true, "\(statement)")
                }
            }
        }
    }
}
