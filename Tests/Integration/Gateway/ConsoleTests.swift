import Foundation
import RTMClient
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// The files and the login of the console.
@Suite(.serialized, .ends(withinMinutes: 2)) struct ConsoleTests {
    private func login(_ gateway: GatewaySystem, key: String = "admin") async throws -> GatewaySystem.Answer {
        try await gateway.call(
            "POST", "/console/session", key: nil, #"{"key": "\#(gateway.text(of: key))"}"#, headers: Self.json
        )
    }

    private static let json = ["Content-Type": "application/json"]

    private func cookie(_ answer: GatewaySystem.Answer) throws -> String {
        String(try #require(answer.headers["set-cookie"]?.split(separator: ";").first))
    }

    @Test("W-34: a login gives a cookie that no script reads, and a change needs the token beside it")
    func session() async throws {
        try await GatewaySystem.with { gateway in
            let session = try await login(gateway)
            #expect(session.status == 200)
            let attributes = try #require(session.headers["set-cookie"])
            for part in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(attributes.contains(part)) }
            #expect(!session.text.contains(gateway.text(of: "admin")), "the key is in the cookie alone")
            let (cookie, csrf) = (try cookie(session), try #require(session.string("csrf")))
            let publish = #"{"channel": "a", "message": "x"}"#

            func call(_ method: String, _ path: String, _ body: String? = nil, _ csrf: String? = nil)
                async throws -> GatewaySystem.Answer
            {
                var headers = ["Cookie": cookie]
                headers["rtm-csrf"] = csrf
                return try await gateway.call(method, path, key: nil, body, headers: headers)
            }
            #expect(try await call("GET", "/console/session").string("csrf") == csrf)
            #expect(try await call("GET", "/v1/dev/channels").status == 200)
            #expect(try await call("POST", "/v1/dev/publish", publish).error == "csrfTokenNeeded")
            #expect(try await call("POST", "/v1/dev/publish", publish, "0" + csrf).status == 403)
            #expect(try await call("POST", "/v1/dev/publish", publish, csrf).status == 200)
            let both = try await gateway.call(
                "GET", "/v1/dev/bans", key: "read", headers: ["Cookie": cookie])
            #expect(both.status == 403, "the header decides, and the cookie adds nothing to it")
            #expect(try await call("DELETE", "/console/session").status == 403)
            let end = try await call("DELETE", "/console/session", nil, csrf)
            #expect(end.status == 204 && end.headers["set-cookie"]?.contains("Max-Age=0") == true)
        }
    }

    @Test("W-34: a key that isn't accepted gets no session, and one in a URL is none")
    func refused() async throws {
        try await GatewaySystem.with { gateway in
            for key in ["old", "none"] {
                let text = key == "none" ? "rtmk_none" : gateway.text(of: key)
                let answer = try await gateway.call(
                    "POST", "/console/session", key: nil, #"{"key": "\#(text)"}"#, headers: Self.json)
                #expect(answer.status == 401 && answer.headers["set-cookie"] == nil)
            }
            let key = gateway.text(of: "admin")
            #expect(try await gateway.call("GET", "/console/?key=\(key)", key: nil).error == "keyInURL")
            for path in ["/console/session?key=\(key)", "/v1/dev/channels?key=\(key)"] {
                #expect(try await gateway.call("GET", path, key: nil).status == 401)
            }
            #expect(try await login(gateway, key: "read").text.contains(#""scopes":["read"]"#))
        }
    }

    @Test("W-34, R-11: a login is short, and counts as a call of its key")
    func limited() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "1"]) { gateway in
            let long = #"{"key": "\#(String(repeating: "a", count: 2_000))"}"#
            let refused = try await gateway.call(
                "POST", "/console/session", key: nil, long, headers: Self.json)
            #expect(refused.status == 413)
            var statuses: Set<Int> = []
            for _ in 0..<6 { statuses.insert(try await login(gateway).status) }
            #expect(statuses == [200, 429])
        }
    }

    @Test("W-34: files come with a policy that lets in nothing from elsewhere, and once")
    func files() async throws {
        try await GatewaySystem.with { gateway in
            let module = try await gateway.call("GET", "/console/client/index.js", key: nil)
            #expect(module.status == 200)
            #expect(module.headers["content-type"] == "text/javascript; charset=utf-8")
            let policy = try #require(module.headers["content-security-policy"])
            for part in ["default-src 'none'", "frame-ancestors 'none'", "script-src 'self';"] {
                #expect(policy.contains(part))
            }
            #expect(!policy.contains("unsafe"))
            #expect(try await gateway.call("GET", "/web/src/index.js", key: nil).text == module.text)
            for path in ["/console/", "/console/index.html"] {
                let page = try await gateway.call("GET", path, key: nil)
                #expect(page.headers["content-type"] == "text/html; charset=utf-8", "\(path)")
            }
            for path in ["/console/client/..%2fsession", "/web/%2e%2e/session", "/console/none.js", "/web/"] {
                #expect(try await gateway.call("GET", path, key: nil).status == 404, "\(path)")
            }
            // The configuration of these tests has keys, so this is no system to try things out.
            #expect(try await gateway.call("GET", "/web/sample/", key: nil).status == 404)
        }
    }

    @Test("W-33: a token that a key has asked for lets its user in, for as long as was asked")
    func tokens() async throws {
        try await GatewaySystem.with { gateway in
            let path = "/v1/\(SampleApp.id)/tokens"
            let made = try await gateway.call(
                "POST", path, key: "certified", #"{"user": "ann", "seconds": 600}"#)
            let token = try #require(made.string("token"))
            let end = try #require(made.int("expiresAt"))
            let now = Int(Date().timeIntervalSince1970 * 1_000)
            #expect(abs(end - now - 600_000) < 60_000)
            let channels = try await gateway.call(
                "GET", "/v1/\(SampleApp.id)/presence?channel=a", key: nil,
                headers: ["Authorization": "agora token=\(token)", "x-agora-uid": "ann"])
            #expect(channels.status == 200, "\(channels.text)")
            let open = try await gateway.call("POST", "/v1/dev/tokens", #"{"user": "ann"}"#)
            #expect(open.string("token") == "", "an app without a certificate needs none")
            for rest in [#"": ""}"#, #"": "a", "seconds": 0}"#, #"": "a", "seconds": 86401}"#] {
                let answer = try await gateway.call("POST", path, key: "certified", #"{"user\#(rest)"#)
                #expect(answer.status == 400, "\(rest)")
            }
            let weak = try await gateway.call(
                "POST", "/v1/dev/tokens", key: "moderate", #"{"user": "a"}"#)
            #expect(weak.status == 403)
        }
    }
}
