import Foundation
import RTMModel
import RTMTestSupport
import Testing

/// What tools, browsers and load balancers rely on, beside the calls themselves.
@Suite(.serialized, .ends(withinMinutes: 3)) struct GatewayToolTests {
    private static let origin = "https://app.example.com"

    private func publish(
        _ gateway: GatewaySystem, key: String? = "admin", _ headers: [String: String] = [:]
    ) async throws -> GatewaySystem.Answer {
        try await gateway.call(
            "POST", "/v1/dev/publish", key: key, #"{"channel": "a", "message": "x"}"#, headers: headers)
    }

    @Test("the gateway serves its OpenAPI document, which a validator of others takes for one")
    func description() async throws {
        try await GatewaySystem.with { gateway in
            let served = try await gateway.call(
                "GET", "/openapi.yaml", key: nil, headers: ["Origin": "https://elsewhere.example"])
            #expect(served.status == 200 && served.headers["content-type"] == "application/yaml")
            #expect(served.headers["access-control-allow-origin"] == "*")
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml")
            try Data(served.text.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let outcome = try await ForeignClient.run(
                ".build/python/bin/openapi-spec-validator", [file.path])
            #expect(outcome.status == 0, "\(outcome.output)")
        }
    }

    @Test("W-81: pages of the origins that gateway.origins names may call, with a key of their own")
    func origins() async throws {
        try await GatewaySystem.with(.standalone, ["--origins", Self.origin]) { gateway in
            func ask(_ origin: String, _ path: String) async throws -> GatewaySystem.Answer {
                try await gateway.call(
                    "OPTIONS", path, key: nil,
                    headers: ["Origin": origin, "Access-Control-Request-Method": "POST"])
            }
            let asked = try await ask(Self.origin, "/v1/dev/publish")
            #expect(asked.status == 204 && asked.headers["access-control-allow-origin"] == Self.origin)
            #expect(asked.headers["access-control-allow-methods"] == "POST")
            #expect(asked.headers["access-control-allow-headers"]?.contains("Idempotency-Key") == true)
            for headers in [["Origin": Self.origin], ["Origin": Self.origin, "x-agora-uid": "a"]] {
                for key in ["admin", nil] {
                    let answer = try await publish(gateway, key: key, headers)
                    #expect(answer.status == (key == nil ? 401 : 200), "\(answer.text)")
                    #expect(answer.headers["access-control-allow-origin"] == Self.origin)
                    #expect(answer.headers["access-control-expose-headers"]?.contains("x-request-id") == true)
                    // No page acts with somebody's session of the console.
                    #expect(answer.headers["access-control-allow-credentials"] == nil)
                    #expect(answer.headers["vary"]?.contains("Origin") == true)
                }
            }
            // The others: nothing is there, another site, the console, and another scheme of the same name.
            for path in ["//console/session", "//console//session"] {
                #expect(try await ask(Self.origin, path).headers["access-control-allow-origin"] == nil)
            }
            #expect(try await ask(Self.origin, "/v1/dev/nothing").status == 404)
            for origin in ["https://evil.example", "http://app.example.com", "null", Self.origin + ".evil"] {
                let refused = try await ask(origin, "/v1/dev/publish")
                #expect(refused.status == 405 && refused.headers["access-control-allow-origin"] == nil)
                let answer = try await publish(gateway, ["Origin": origin])
                #expect(answer.status == 200 && answer.headers["access-control-allow-origin"] == nil)
            }
            let console = try await ask(Self.origin, "/console/session")
            #expect(console.status == 405 && console.headers["access-control-allow-origin"] == nil)
        }
    }

    @Test("W-80: each answer has the request's id, with the caller's own where it is one, and so has the log")
    func requestIDs() async throws {
        try await GatewaySystem.with { gateway in
            let first = try await publish(gateway)
            let second = try await publish(gateway)
            let made = try #require(first.headers["x-request-id"])
            #expect(made.utf8.count == 32 && made != second.headers["x-request-id"])
            for own in ["order-7:1", String(repeating: "a", count: 128)] {
                let refused = try await publish(gateway, key: nil, ["x-request-id": own])
                #expect(refused.status == 401 && refused.headers["x-request-id"] == own)
                #expect(refused.string("error", "requestId") == own)
            }
            for odd in ["a b", "a\"b", String(repeating: "a", count: 129), "ä"] {
                let answer = try await publish(gateway, ["x-request-id": odd])
                #expect(answer.status == 200 && answer.headers["x-request-id"]?.utf8.count == 32)
            }
            _ = try await gateway.call(
                "POST", "/v1/dev/users/ben/kick", "{}", headers: ["x-request-id": "kick-1"])
            #expect(try await gateway.auditLines().contains { $0.contains("kick-1") })
            let nothing = try await gateway.call("GET", "/nothing", key: nil)
            #expect(nothing.string("error", "requestId") == nothing.headers["x-request-id"])
        }
    }

    @Test(
        "W-31, W-82: an answer says what is left, and a refusal by a rate that nothing is, without an audit line"
    )
    func rates() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "1"]) { gateway in
            let first = try await publish(gateway)
            #expect(first.headers["ratelimit-limit"] == "2")
            for name in ["ratelimit-remaining", "ratelimit-reset"] {
                #expect(first.headers[name].flatMap { Int($0) } != nil, "\(first.headers)")
            }
            let unknown = try await publish(gateway, key: "rtmk_x")
            #expect(unknown.status == 401 && unknown.headers["ratelimit-limit"] == nil)
            var refused: GatewaySystem.Answer?
            var kicks = 0
            for number in 0..<1_000 where refused == nil {
                let answer = try await gateway.call("POST", "/v1/dev/users/u\(number)/kick", "{}")
                if answer.status == 429 { refused = answer } else { kicks += 1 }
            }
            #expect(refused?.headers["ratelimit-limit"] == "2" && refused?.headers["retry-after"] == "1")
            // The same holds for a key without the scope: what it may not do costs it its rate.
            var statuses: Set<Int> = []
            for _ in 0..<1_000 where !statuses.contains(429) {
                statuses.insert(
                    try await gateway.call("POST", "/v1/dev/users/u/kick", key: "read", "{}").status)
            }
            #expect(statuses == [403, 429])
            let audits = try await gateway.auditLines()
            #expect(audits.contains { $0.contains(#""outcome":"403 missingScope""#) })
            #expect(!audits.contains { $0.contains(#""outcome":"429"#) })
            #expect(audits.count { $0.contains(#""outcome":"200""#) } == kicks)
        }
    }

    @Test("W-83: HEAD is answered wherever there is GET, with the head of that answer and no body behind it")
    func heads() async throws {
        try await GatewaySystem.with { gateway in
            for (path, status) in [
                ("/v1/dev/channels", 200), ("/v1/dev/bans?x=1", 400), ("/v1/dev/bans?after=%00", 400),
                ("/nothing", 404),
                ("/v1/dev/publish", 405), ("/openapi.yaml", 200), ("/health", 200),
            ] {
                let http = try await RawHTTP.open(gateway.system.address("gateway"))
                let fields = "Host: a\r\nAuthorization: Bearer \(gateway.text(of: "admin"))\r\n"
                try await http.send(
                    "HEAD \(path) HTTP/1.1\r\n\(fields)\r\n"
                        + "GET /health HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n")
                let answers = await http.rest().components(separatedBy: "HTTP/1.1 ").dropFirst()
                #expect(answers.first?.hasPrefix("\(status)") == true, "\(path): \(answers)")
                #expect(answers.first?.hasSuffix("\r\n\r\n") == true, "\(path)")
                #expect(answers.last?.hasSuffix(#"{"ready":true}"#) == true, "\(path)")
                #expect(answers.count == 2, "\(path)")
            }
            let put = try await gateway.call("PUT", "/v1/dev/channels", "{}")
            #expect(put.status == 405 && put.headers["allow"] == "GET, HEAD")
            #expect(try await gateway.auditLines().isEmpty, "a question is no change")
        }
    }

    @Test("W-83: the health path says whether everything is there that the gateway needs, and nothing else")
    func health() async throws {
        try await GatewaySystem.with(.fourProcesses) { gateway in
            let well = try await gateway.call("GET", "/health", key: nil)
            #expect(well.status == 200 && well.text == #"{"ready":true}"#)
            #expect(well.headers["cache-control"] == "no-store")
            #expect(try await gateway.call("GET", "/health?x=1", key: nil).status == 400)
            let messaging = try gateway.system.process("rtm-messaging")
            messaging.signal(SIGKILL)
            try await eventually("the gateway has noticed") {
                try await gateway.call("GET", "/health", key: nil).status == 503
            }
            let ill = try await gateway.call("GET", "/health", key: nil)
            #expect(ill.error == "notReady" && ill.headers["retry-after"] == "1", "\(ill.text)")
        }
    }

    @Test("W-24: an Idempotency-Key is refused where it would have no effect")
    func idempotencyKeys() async throws {
        try await GatewaySystem.with { gateway in
            let key = ["Idempotency-Key": "k"]
            for (method, path, body) in [
                ("POST", "users/ben/kick", "{}"), ("PUT", "locks/l?channel=a", #"{"ttl": 10}"#),
                ("PUT", "metadata?user=ben", #"{"items": []}"#), ("DELETE", "history?channel=a", nil),
                ("POST", "tokens", #"{"user": "ben"}"#), ("POST", "webhooks/w/test", "{}"),
            ] {
                let refused = try await gateway.call(method, "/v1/dev/\(path)", body, headers: key)
                #expect(refused.status == 400 && refused.error == "idempotencyKeyUnknown", "\(path)")
            }
            #expect(try await publish(gateway, key).status == 200)
            #expect(try await publish(gateway, key).value("replayed") as? Bool == true)
            #expect(try await gateway.call("GET", "/v1/dev/bans", headers: key).status == 200)
        }
    }

    @Test("W-84: JSON is published, stored and repeated as the text that was written, with its type")
    func json() async throws {
        try await GatewaySystem.with { gateway in
            let payload = #"{"b": 1.10, "a":[18446744073709551616, "ä"]}"#
            func publish(_ fields: String) async throws -> GatewaySystem.Answer {
                try await gateway.call(
                    "POST", "/v1/dev/publish",
                    #"{"channel": "json", "store": true, "message": \#(payload)\#(fields)}"#,
                    headers: ["Idempotency-Key": "k\(fields.count)"])
            }
            try await eventually("storage is there") {
                try await gateway.call("GET", "/v1/dev/history?channel=json").status == 200
            }
            let first = try await publish("")
            #expect(first.status == 200, "\(first.text)")
            #expect(try await publish("").value("replayed") as? Bool == true)
            #expect(try await publish(#", "customType": "score""#).status == 200)
            let stored = try await gateway.call("GET", "/v1/dev/history?channel=json&limit=9")
            #expect(stored.count("messages") == 2)
            for (index, type) in ["score", "application/json"].enumerated() {
                #expect(stored.string("messages", index, "message") == payload)
                #expect(stored.string("messages", index, "customType") == type)
            }
            let long = try await gateway.call(
                "POST", "/v1/dev/publish",
                #"{"channel": "json", "message": ["\#(String(repeating: "x", count: 32_768))"]}"#)
            #expect(long.status == 400, "\(long.text)")
        }
    }

    @Test("W-10: a ban may be for ever, and only for somebody who says so")
    func forever() async throws {
        try await GatewaySystem.with { gateway in
            for body in [
                "{}", #"{"forever": false}"#, #"{"seconds": 60, "forever": true}"#, #"{"reason": "spam"}"#,
            ] {
                let refused = try await gateway.call("POST", "/v1/dev/users/ben/ban", body)
                #expect(refused.status == 400 && refused.error == "invalidBody", "\(refused.text)")
            }
            let banned = try await gateway.call("POST", "/v1/dev/users/ben/ban", #"{"forever": true}"#)
            #expect(banned.status == 200 && banned.value("forever") as? Bool == true, "\(banned.text)")
            #expect(banned.int("until") == 253_402_300_799_999)
            let list = try await gateway.call("GET", "/v1/dev/bans")
            #expect(list.value("bans", 0, "forever") as? Bool == true && list.count("bans") == 1)
            let refused = try await gateway.run("user", "ban", "ann")
            #expect(refused.status == 64)
            let command = try await gateway.run("user", "ban", "ann", "--forever")
            #expect(command.status == 0 && command.output.contains { $0.contains("ann is banned for ever") })
            #expect(try await gateway.call("POST", "/v1/dev/users/ben/unban", "{}").status == 200)
        }
    }
}
