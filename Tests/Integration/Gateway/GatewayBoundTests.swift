import Foundation
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What bounds callers over HTTP: the life of their keys, their places, their rates, and what they may write.
@Suite(.serialized, .ends(withinMinutes: 3)) struct GatewayBoundTests {
    private func head(_ gateway: GatewaySystem, _ path: String, key: String, _ headers: String...) -> String {
        let all = ["Host: localhost", "Authorization: Bearer \(gateway.text(of: key))"] + headers
        return (["GET \(path) HTTP/1.1"] + all).joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func publish(_ gateway: GatewaySystem, _ text: String) async throws {
        let answer = try await gateway.call(
            "POST", "/v1/dev/publish", key: "operator", #"{"channel": "a", "message": "\#(text)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// Storage may be up a moment later than the rest.
    private func hasEvents(_ gateway: GatewaySystem) async throws {
        try await eventually("events are there") { try await page(gateway).status == 200 }
    }

    /// A page of events. Each request is another one: Foundation answers equal ones from its cache.
    private func page(_ gateway: GatewaySystem, key: String = "read") async throws -> GatewaySystem.Answer {
        let limit = Int.random(in: 1...1_000)
        return try await gateway.call("GET", "/v1/dev/events?limit=\(limit)", key: key)
    }

    @Test("W-42: the stream and the wait of a key that is revoked end at once, and show nothing more")
    func revoked() async throws {
        try await GatewaySystem.with(events: "1h") { gateway in
            try await hasEvents(gateway)
            let address = gateway.system.address("gateway")
            let stream = try await RawHTTP.open(address)
            try await stream.send(
                head(
                    gateway, "/v1/dev/events?after=latest", key: "read", "Accept: text/event-stream",
                    "Connection: close"))
            let other = try await RawHTTP.open(address)
            try await other.send(
                head(gateway, "/v1/dev/events?after=latest", key: "moderate", "Accept: text/event-stream"))
            let wait = try await RawHTTP.open(address)
            try await wait.send(
                head(gateway, "/v1/dev/events?after=latest&wait=30s", key: "read", "Connection: close"))
            try await publish(gateway, "before")
            let start = ContinuousClock.now
            try await gateway.replaceKeys(["admin", "operator"])
            try await publish(gateway, "after")
            let text = await stream.rest()
            #expect(
                text.contains("200") && text.hasSuffix("0\r\n\r\n") && !text.contains(#""after""#), "\(text)")
            let refused = await wait.rest()
            #expect(!refused.contains(#""after""#), "\(refused)")
            #expect(.now - start < .seconds(8) * timeScale, "not only at the next comment")
            try await other.close()
        }
    }

    @Test("W-42: beyond its places a key's requests for events are refused with the limit, and others aren't")
    func places() async throws {
        try await GatewaySystem.with(.standalone, ["--events-per-key-max", "3"], events: "1h") { gateway in
            try await hasEvents(gateway)
            let address = gateway.system.address("gateway")
            var streams: [RawHTTP] = []
            for _ in 0..<3 {
                let stream = try await RawHTTP.open(address)
                try await stream.send(
                    head(gateway, "/v1/dev/events", key: "read", "Accept: text/event-stream"))
                // A page that is asked for meanwhile would take its place.
                #expect(await stream.text(endingWith: "\n\n\r\n").hasPrefix("HTTP/1.1 200"))
                streams.append(stream)
            }
            try await eventually("all places are taken") {
                try await page(gateway).status == 429
            }
            let refused = try await page(gateway)
            #expect(refused.string("error", "limit", "name") == "gateway.events.perKeyMax")
            #expect(refused.int("error", "limit", "value") == 3 && refused.headers["retry-after"] == "1")
            #expect(try await page(gateway, key: "admin").status == 200)
            for stream in streams { try await stream.close() }
            try await eventually("the places are free again", within: .seconds(30)) {
                try await page(gateway).status == 200
            }
        }
    }

    @Test("R-11, W-26: a user's token calls at the rate of a session, and decides on no version of a channel")
    func users() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "500"]) { gateway in
            let token = try SampleApp.token(for: "alice", endsAt: WallClock.milliseconds() / 1000 + 300)
            func call(_ body: String, _ path: String = "publish") async throws -> GatewaySystem.Answer {
                try await gateway.call(
                    "POST", "/v1/\(SampleApp.id)/\(path)", key: nil, body,
                    headers: ["x-agora-token": token, "x-agora-uid": "alice"])
            }
            let version = try await call(
                #"{"channel": "a", "message": "x", "version": 18446744073709551615}"#)
            #expect(version.status == 403 && version.error == "keyNeeded", "\(version.text)")
            // At any pace of this machine: what so many messages owe takes a quarter of a minute.
            let message = #"{"channel": "a", "message": "x"}"#
            let messages = Array(repeating: message, count: 1_000).joined(separator: ",")
            #expect(try await call(#"{"messages": [\#(messages)]}"#, "batch").status == 200)
            let limited = try await call(message)
            #expect(limited.status == 429)
            #expect(limited.string("error", "limit", "name") == "gateway.rates.user")
            #expect(limited.int("error", "limit", "value") == 60)
        }
    }

    @Test(
        "JSON that two readers could read in two ways is refused",
        arguments: [
            #"{"channel": "a", "message": "x", "channel": "b"}"#,
            #"{"channel": "a", "message": "x", "ch\u0061nnel": "b"}"#,
            #"{"channel": "a", "message": "x",}"#, "\u{FEFF}{\"channel\": \"a\", \"message\": \"x\"}",
        ])
    func ambiguous(body: String) async throws {
        try await GatewaySystem.with { gateway in
            let answer = try await gateway.call("POST", "/v1/dev/publish", body)
            #expect(answer.status == 400 && answer.error == "invalidBody", "\(answer.text)")
            let batch = try await gateway.call("POST", "/v1/dev/batch", #"{"messages": [\#(body)]}"#)
            #expect(batch.status == 400, "\(batch.text)")
            let vendor = try await gateway.call(
                "POST", "/dev/v2/project/dev/rtm/users/u/channel_messages",
                #"{"channel_name": "a", "payload": "p", "payload": "q"}"#)
            #expect(vendor.status == 400, "\(vendor.text)")
        }
    }

    @Test("a body in UTF-16 is refused")
    func encoding() async throws {
        try await GatewaySystem.with { gateway in
            let text = #"{"channel": "a", "message": "x"}"#
            let body = Array(try #require(text.data(using: .utf16)))
            let http = try await RawHTTP.open(gateway.system.address("gateway"))
            let lines = [
                "POST /v1/dev/publish HTTP/1.1", "Host: a", "Content-Length: \(body.count)",
                "Authorization: Bearer \(gateway.text(of: "admin"))",
            ]
            try await http.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
            #expect(await http.answers(1).first?.hasPrefix("400") == true)
            try await http.close()
        }
    }

    @Test("a request of HTTP/1.1 names its host once, and nothing behind another one is executed")
    func host() async throws {
        try await GatewaySystem.with { gateway in
            for hosts in ["", "Host: a\r\nHost: b\r\n", "Host: a\r\nhost: a\r\n"] {
                let http = try await RawHTTP.open(gateway.system.address("gateway"))
                let key = "Authorization: Bearer \(gateway.text(of: "admin"))\r\n"
                try await http.send(
                    "GET /v1/dev/channels HTTP/1.1\r\n\(hosts)\(key)\r\n"
                        + "GET /v1/dev/channels HTTP/1.1\r\nHost: a\r\n\(key)Connection: close\r\n\r\n")
                let text = await http.rest()
                #expect(text.contains("HTTP/1.1 400") && !text.contains("HTTP/1.1 200"), "\(text)")
                #expect(text.contains(#""name":"malformed""#) && text.contains("x-request-id: "), "\(text)")
            }
        }
    }

    @Test("a name that is refused stands in the log with 64 bytes, whatever its length")
    func longNames() async throws {
        try await GatewaySystem.with { gateway in
            // One character of many bytes is one character, too.
            for name in [
                String(repeating: "x", count: 9_000), "e" + String(repeating: "%CC%81", count: 2_000),
            ] {
                _ = try await gateway.call("DELETE", "/v1/dev/locks/\(name)?channel=a")
                _ = try await gateway.call("DELETE", "/v1/dev/metadata?user=\(name)", "{}")
                _ = try await gateway.call("POST", "/v1/dev/users/\(name)/kick", "{}")
            }
            let audits = try await gateway.auditLines()
            #expect(audits.count == 6)
            #expect(audits.allSatisfy { $0.utf8.count < 600 }, "\(audits.map(\.utf8.count))")
        }
    }

    @Test("W-34: behind TLS the cookie of the console is __Host-, and it never has the key")
    func cookie() async throws {
        try await GatewaySystem.with { gateway in
            let key = gateway.text(of: "admin")
            func login(_ headers: [String: String]) async throws -> GatewaySystem.Answer {
                try await gateway.call(
                    "POST", "/console/session", key: nil, #"{"key": "\#(key)"}"#,
                    headers: headers.merging(["Content-Type": "application/json"]) { $1 })
            }
            let plain = try await login([:])
            let plainCookie = try #require(plain.headers["set-cookie"])
            #expect(plainCookie.hasPrefix("rtm_console=") && !plainCookie.contains("Secure"))
            for headers in [["X-Forwarded-Proto": "https"], ["Origin": "https://rtm.example.com"]] {
                let secure = try await login(headers)
                let cookie = try #require(secure.headers["set-cookie"])
                #expect(cookie.hasPrefix("__Host-rtm_console=") && cookie.contains("Secure"), "\(cookie)")
                #expect(!cookie.contains("rtmk_") && !plainCookie.contains("rtmk_"))
                let pair = String(try #require(cookie.split(separator: ";").first))
                let seen = try await gateway.call(
                    "GET", "/v1/dev/channels", key: nil,
                    headers: ["Cookie": pair, "X-Forwarded-Proto": "https"])
                #expect(seen.status == 200, "\(seen.text)")
                // What another port has planted counts for nothing there.
                let planted = String(try #require(plainCookie.split(separator: ";").first))
                let refused = try await gateway.call(
                    "GET", "/v1/dev/channels", key: nil,
                    headers: ["Cookie": planted, "X-Forwarded-Proto": "https"])
                #expect(refused.status == 401)
            }
            let page = try await gateway.call(
                "GET", "/console/", key: nil, headers: ["X-Forwarded-Proto": "https"])
            #expect(page.headers["strict-transport-security"] == "max-age=31536000")
            #expect(
                try await gateway.call("GET", "/console/", key: nil).headers["strict-transport-security"]
                    == nil)
        }
    }

    @Test("where its output is no terminal, a system without keys shows none")
    func greeting() async throws {
        // What it writes to its output stands in the log, too.
        let entrance = ["sh", "-c", "exec \"$@\" 1>&2", "sh"]
        try await RunningSystem.with(.standalone, entrance: entrance) { system in
            let process = try system.process("rtm-standalone")
            try await eventually("the greeting is there") { process.log.contains("/console/") }
            process.signal(SIGTERM)
            #expect(try await process.exit() == 0)
            #expect(!process.log.contains("rtmk_"), "\(process.log)")
        }
    }
}
