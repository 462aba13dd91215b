import Foundation
import NIOHTTP1
import RTMAccessToken
import RTMClient
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// Who may call what over HTTP.
@Suite(.serialized, .ends(withinMinutes: 2)) struct GatewayAccessTests {
    /// Every route of an app, with the scope that it needs, and a body that it takes.
    private static let routes: [(method: String, path: String, scope: String, body: String?)] = [
        ("POST", "/v1/dev/publish", "publish", #"{"channel": "a", "message": "b"}"#),
        ("POST", "/v1/dev/broadcast", "publish", #"{"channels": ["a"], "message": "b"}"#),
        ("POST", "/v1/dev/batch", "publish", #"{"messages": [{"channel": "a", "message": "b"}]}"#),
        ("GET", "/v1/dev/history?channel=a", "read", nil),
        ("DELETE", "/v1/dev/history?channel=a", "moderate", nil),
        ("GET", "/v1/dev/channels?prefix=a", "read", nil), ("GET", "/v1/dev/channels/a", "read", nil),
        ("GET", "/v1/dev/users", "read", nil), ("GET", "/v1/dev/users/u", "moderate", nil),
        ("GET", "/v1/dev/connections", "moderate", nil), ("GET", "/v1/dev/usage", "read", nil),
        ("GET", "/v1/dev/presence?channel=a", "read", nil),
        ("GET", "/v1/dev/users/u/channels", "read", nil),
        ("GET", "/v1/dev/users/u/state?channel=a", "read", nil),
        ("PUT", "/v1/dev/metadata?channel=a", "publish", #"{"items": [{"key": "k", "value": "v"}]}"#),
        ("PATCH", "/v1/dev/metadata?channel=a", "publish", #"{"items": [{"key": "k", "value": "w"}]}"#),
        ("GET", "/v1/dev/metadata?channel=a", "read", nil),
        ("DELETE", "/v1/dev/metadata?channel=a", "publish", #"{}"#),
        ("PUT", "/v1/dev/locks/l?channel=a", "publish", #"{"ttl": 10}"#),
        ("GET", "/v1/dev/locks?channel=a", "read", nil),
        ("POST", "/v1/dev/locks/l/revoke?channel=a", "publish", #"{"owner": "u"}"#),
        ("DELETE", "/v1/dev/locks/l?channel=a", "publish", nil),
        ("POST", "/v1/dev/users/u/kick", "moderate", #"{"reason": "r"}"#),
        ("POST", "/v1/dev/users/u/ban", "moderate", #"{"seconds": 60}"#),
        ("GET", "/v1/dev/bans", "moderate", nil),
        ("POST", "/v1/dev/explain", "moderate", #"{"user": "u"}"#),
        ("POST", "/v1/dev/users/u/unban", "moderate", "{}"),
        ("POST", "/v1/dev/users/u/revoke-tokens", "moderate", "{}"),
        (
            "POST", "/dev/v2/project/dev/rtm/users/u/peer_messages", "publish",
            #"{"destination": "v", "payload": "p"}"#
        ),
        (
            "POST", "/dev/v2/project/dev/rtm/users/u/channel_messages", "publish",
            #"{"channel_name": "a", "payload": "p"}"#
        ),
        ("GET", "/rtm/v2/history/dev/userId/u/channelType/message/channel/a", "read", nil),
        ("GET", "/v1/keys", "admin", nil), ("GET", "/v1/dev/events?channels=a", "read", nil),
        ("GET", "/v1/dev/webhooks", "admin", nil), ("POST", "/v1/dev/webhooks/w/test", "admin", nil),
        ("POST", "/v1/dev/webhooks/w/redeliver", "admin", #"{"after": "1-1"}"#),
        ("GET", "/v1/dev/webhooks/w/dead-letters", "admin", nil),
    ]

    @Test("each route needs its scope: a key without it gets 403, no key and a wrong one 401")
    func scopes() async throws {
        try await GatewaySystem.with { gateway in
            for route in Self.routes {
                for key in ["read", "publish", "moderate"] {
                    let answer = try await gateway.call(route.method, route.path, key: key, route.body)
                    let isAllowed = key == route.scope
                    #expect((answer.status == 403) == !isAllowed, "\(route) with \(key): \(answer.text)")
                    if !isAllowed { #expect(answer.error == "missingScope") }
                }
                #expect(try await gateway.call(route.method, route.path, route.body).status < 500)
                let none = try await gateway.call(route.method, route.path, key: nil, route.body)
                #expect(none.status == 401 && none.headers["www-authenticate"] == "Bearer")
                for key in ["old", "rtmk_AAAAAAAA_" + String(repeating: "a", count: 43), "x"] {
                    let wrong = try await gateway.call(route.method, route.path, key: key, route.body)
                    #expect(wrong.status == 401 && wrong.error == "unknownKey")
                }
                guard route.path.contains("dev/"), route.scope != "admin" else { continue }
                let other = try await gateway.call(route.method, route.path, key: "other", route.body)
                #expect(other.status == 403 && other.error == "anotherApp", "\(route): \(other.text)")
                let path = route.path.replacingOccurrences(of: "dev/", with: "nope/")
                    .replacingOccurrences(of: "nope/v2", with: "dev/v2")
                let nowhere = try await gateway.call(route.method, path, key: "all", route.body)
                #expect(nowhere.status == 404 && nowhere.error == "invalidAppId", "\(path): \(nowhere.text)")
            }
        }
    }

    @Test("a key for the channels of a prefix reaches no other channel, no inbox and no user")
    func prefix() async throws {
        try await GatewaySystem.with { gateway in
            for route in Self.routes where route.path.hasPrefix("/v1/dev/") {
                let outside = try await gateway.call(route.method, route.path, key: "chat", route.body)
                if route.path.hasSuffix("/users/u/channels") {
                    #expect(outside.status == 200 && outside.count("channels") == 0)
                } else if route.path.hasSuffix("broadcast") || route.path.hasSuffix("batch") {
                    #expect(outside.status == 207)
                    #expect(outside.string("results", 0, "error", "name") == "channelOutOfReach")
                } else {
                    #expect(outside.status == 403 && outside.error == "channelOutOfReach", "\(route)")
                }
                guard route.path.contains("channel=a") else { continue }
                let inside = route.path.replacingOccurrences(of: "channel=a", with: "channel=chat-1")
                let answer = try await gateway.call(route.method, inside, key: "chat", route.body)
                #expect(answer.status != 403, "\(inside): \(answer.text)")
            }
            for (method, path, body) in [
                ("POST", "/v1/dev/publish", #"{"user": "chat-1", "message": ""}"#),
                ("GET", "/v1/dev/history?user=chat-1", nil), ("GET", "/v1/dev/metadata?user=chat-1", nil),
            ] {
                #expect(try await gateway.call(method, path, key: "chat", body).status == 403, "\(path)")
            }
        }
    }

    @Test("GET /v1/keys/self says what a key may do, and an admin sees the keys of the app")
    func keys() async throws {
        try await GatewaySystem.with { gateway in
            let own = try await gateway.call("GET", "/v1/keys/self", key: "chat")
            #expect(own.string("app") == "dev" && own.string("channels") == "chat-")
            #expect(own.string("scopes", 0) == "admin" && own.string("id")?.count == 8)
            #expect(own.value("lastUse") == nil)
            let again = try await gateway.call("GET", "/v1/keys/self", key: "chat")
            #expect(again.string("lastUse") != nil, "the one before this")
            let expired = try await gateway.call("GET", "/v1/keys")
            let ids = (expired.value("keys") as? [[String: Any]]) ?? []
            #expect(ids.count == 6 && ids.allSatisfy { $0["app"] as? String == "dev" })
            #expect(ids.count { $0["expires"] != nil } == 1)
            // Those that have called are known by it: this one, and that of the first call.
            #expect(ids.count { $0["lastUse"] != nil } == 2)
            #expect(!expired.text.contains("hash"))
            #expect(try await gateway.call("GET", "/v1/keys/self", key: nil).status == 401)
        }
    }

    @Test("keys are made, restricted and revoked without a restart")
    func reload() async throws {
        try await GatewaySystem.with { gateway in
            let added = try GeneratedKey("dev/read")
            let path = "/v1/dev/presence?channel=a"
            #expect(try await gateway.call("GET", path, key: added.text).status == 401)
            try await gateway.replaceKeys(["admin"], adding: [added])
            #expect(try await gateway.call("GET", path, key: added.text).status == 200)
            #expect(try await gateway.call("GET", path, key: "read").status == 401)
            let swapped = GeneratedKey(
                added, entry: added.entry.replacingOccurrences(of: "read", with: "moderate"))
            try await gateway.replaceKeys(["admin"], adding: [swapped])
            #expect(try await gateway.call("GET", path, key: added.text).status == 403)
            try await gateway.replaceKeys(["admin"])
            #expect(try await gateway.call("GET", path, key: added.text).status == 401)
            #expect(try await gateway.call("GET", path).status == 200)
        }
    }

    @Test("R-11: a key beyond its rate gets 429 with the limit and when to come back; others don't")
    func rates() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "5", "--rates-app", "0"]) { gateway in
            var refused: GatewaySystem.Answer?
            for _ in 0..<50 where refused == nil {
                let answer = try await gateway.call("GET", "/v1/dev/presence?channel=a")
                if answer.status != 200 { refused = answer }
            }
            let answer = try #require(refused)
            #expect(answer.status == 429 && answer.error == "operationRateExceedLimitation")
            #expect(answer.string("error", "limit", "name") == "gateway.rates.key")
            #expect(answer.int("error", "limit", "value") == 5 && answer.headers["retry-after"] == "1")
            #expect(answer.value("error", "retryAfter") as? Double ?? 0 > 0)
            #expect(try await gateway.call("GET", "/v1/dev/presence?channel=a", key: "read").status == 200)
            try await eventually("the key may call again") {
                try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200
            }
        }
    }

    @Test("W-1: a token acts as its user alone, and lets nobody in who is banned")
    func token() async throws {
        try await GatewaySystem.with { gateway in
            let app = SampleApp.id
            let token = try SampleApp.token(for: "alice", endsAt: UInt64(Date().timeIntervalSince1970) + 500)
            func call(_ method: String, _ path: String, _ body: String? = nil, user: String? = "alice")
                async throws
                -> GatewaySystem.Answer
            {
                var headers = ["Authorization": "agora token=\(token)"]
                headers["x-agora-uid"] = user
                return try await gateway.call(method, path, key: nil, body, headers: headers)
            }
            let publish = "/v1/\(app)/publish"
            #expect(try await call("POST", publish, #"{"channel": "a", "message": "b"}"#).status == 200)
            let other = try await call(
                "POST", publish, #"{"channel": "a", "message": "b", "publisher": "bob"}"#)
            #expect(other.status == 403 && other.error == "anotherUser")
            let path = "/dev/v2/project/\(app)/rtm/users/bob/channel_messages"
            #expect(try await call("POST", path, #"{"channel_name": "a", "payload": "b"}"#).status == 403)
            #expect(try await call("POST", publish, "{}", user: nil).error == "missingUser")
            #expect(try await call("POST", publish, "{}", user: "bob").status == 401)
            #expect(try await call("POST", "/v1/dev/publish", "{}").status == 401)
            #expect(try await call("POST", "/v1/\(app)/users/bob/kick", "{}").status == 403)
            #expect(
                try await call("GET", "/v1/\(app)/history?user=bob").error == "historyOperationNotPermitted")
            #expect(try await call("GET", "/v1/\(app)/history?user=alice").status == 200)
            for path in ["channels", "users", "users/bob", "connections", "usage", "events", "webhooks"] {
                let list = try await call("GET", "/v1/\(app)/\(path)")
                #expect(list.status == 403, "\(path): \(list.text)")
            }

            let ban = try await gateway.call(
                "POST", "/v1/\(app)/users/alice/ban", key: "all", #"{"seconds": 60}"#)
            #expect(ban.status == 200)
            try await eventually("the gateway knows it") {
                let banned = try await call("POST", publish, #"{"channel": "a", "message": "b"}"#)
                return banned.status == 403 && banned.error == "loginRejected"
            }
        }
    }

    @Test(
        "A-17, A-18: a JWT acts as its user, too, and its keys are changed while the gateway runs",
        arguments: Deployment.allCases)
    func jwt(_ deployment: Deployment) async throws {
        let end = UInt64(Date().timeIntervalSince1970) + 500
        let old = try SampleJWT.claims(for: "alice", endsAt: end).signed(with: SampleJWT.signing(.rs256))
        let new = try SampleJWT.claims(for: "alice", endsAt: end)
            .signed(with: JWTSigningKey(SampleJWT.otherRSAKey, id: "r2"))
        try await GatewaySystem.with(deployment) { gateway in
            func publish(_ token: String, scheme: String = "Bearer ", as user: String = "alice") async throws
                -> GatewaySystem.Answer
            {
                try await gateway.call(
                    "POST", "/v1/\(SampleApp.id)/publish", key: nil, #"{"channel": "a", "message": "b"}"#,
                    headers: ["Authorization": scheme + token, "x-agora-uid": user])
            }
            #expect(try await publish(old).status == 200)
            #expect(try await publish(old, scheme: "agora token=").status == 200)
            let other = try await publish(old, as: "bob")
            #expect(other.status == 401 && other.error == "invalidToken")
            let unknown = try await publish(new)
            #expect(unknown.status == 401 && unknown.error == "invalidToken")

            try await gateway.replaceJWTKeys(SampleJWT.keys(SampleJWT.rsaJWK, SampleJWT.otherRSAJWK))
            #expect(try await publish(old).status == 200)
            #expect(try await publish(new).status == 200)
            try await gateway.replaceJWTKeys(SampleJWT.keys(SampleJWT.otherRSAJWK))
            #expect(try await publish(old).status == 401)
            #expect(try await publish(new).status == 200)
        }
    }

    @Test(
        "A-21: the keys of a URL are fetched for clients and over HTTP, and an issuer that is away ends nothing",
        arguments: Deployment.allCases)
    func fetchedKeys(_ deployment: Deployment) async throws {
        func token(_ user: String, _ key: JWTSigningKey) throws -> String {
            let end = UInt64(Date().timeIntervalSince1970) + 500
            return try SampleJWT.claims(for: user, endsAt: end).signed(with: key)
        }
        let (old, new) = try (SampleJWT.signing(.rs256), JWTSigningKey(SampleJWT.otherRSAKey, id: "r2"))
        try await TestReceiver.with { _ in
            .init(body: SampleJWT.keys(SampleJWT.curveJWK))
        } _: { issuer in
            let url = "http://127.0.0.1:\(issuer.port)/jwks.json"
            try await GatewaySystem.with(deployment, jwtKeysURL: url) { gateway in
                func publish(_ key: JWTSigningKey) async throws -> GatewaySystem.Answer {
                    try await gateway.call(
                        "POST", "/v1/fetched/publish", key: nil, #"{"channel": "a", "message": "b"}"#,
                        headers: ["Authorization": "Bearer \(token("alice", key))", "x-agora-uid": "alice"])
                }
                func client(_ user: String, _ key: JWTSigningKey) throws -> RTMClient {
                    let token = try token(user, key)
                    return try gateway.system.client(user) { ($0.appID, $0.token) = ("fetched", token) }
                }
                try await eventually("the keys are there") {
                    try await publish(SampleJWT.signing(.es256)).status == 200
                }
                issuer.answer { _ in .init(.serviceUnavailable) }
                try await eventually("the issuer's answer is known") {
                    try await publish(old).text.contains("can't be fetched at present")
                }
                let away = try await publish(old)
                #expect(away.status == 503 && away.headers["retry-after"] != nil)
                #expect(try await publish(SampleJWT.signing(.es256)).status == 200)
                #expect(
                    try await gateway.ready().contains("the keys of \(url) may be old: it answers with 503"))
                let anna = try client("anna", old)
                let login = Task { await code { try await anna.login() } }
                try await eventually("the login is refused for now") { anna.linkState == .disconnected }

                issuer.answer { _ in .init(body: SampleJWT.keys(SampleJWT.rsaJWK)) }
                #expect(await login.value == nil)
                try await eventually("the gateway has the keys") { try await publish(old).status == 200 }
                #expect(try await !gateway.ready().contains(url))

                issuer.answer { _ in .init(body: SampleJWT.keys(SampleJWT.otherRSAJWK)) }
                #expect(try await publish(new).status == 503, "it is looked for")
                try await eventually("the gateway has the new key") { try await publish(new).status == 200 }
                let bert = try client("bert", new)
                try await bert.login()
                #expect(anna.linkState == .connected)
                for client in [anna, bert] { await client.close() }
            }
        }
    }

    @Test("a path that isn't there is 404, and one with another method 405 with those that are")
    func paths() async throws {
        try await GatewaySystem.with { gateway in
            for path in ["/", "/v1", "/v1/dev", "/v1/dev/nothing", "/v2/dev/publish", "/v1/dev/publish/more"]
            {
                let answer = try await gateway.call("GET", path)
                #expect(answer.status == 404 && answer.error == "noSuchPath", "\(path)")
            }
            let method = try await gateway.call("GET", "/v1/dev/publish")
            #expect(method.status == 405 && method.headers["allow"] == "POST")
            #expect(
                try await gateway.call("POST", "/v1/dev/metadata").headers["allow"]
                    == "DELETE, GET, HEAD, PATCH, PUT")
            let query = try await gateway.call("GET", "/v1/dev/presence?chanel=a")
            #expect(query.status == 400 && query.error == "invalidQuery")
        }
    }
}

extension GeneratedKey {
    fileprivate init(_ key: GeneratedKey, entry: String) {
        (text, line) = (key.text, key.line)
        self.entry = entry
    }
}
