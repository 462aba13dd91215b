import ArgumentParser
import RTMClient
import Testing

@testable import rtm

@Suite("The gateway that commands call, and the API key")
struct GatewaySettingsTests {
    private static func key(_ name: Character) -> String {
        "rtmk_\(String(repeating: name, count: 8))_\(String(repeating: name, count: 43))"
    }

    private var book: ContextBook {
        var book = ContextBook()
        book.add(
            ServerContext(appID: "app-a", ca: "ca.pem", gateway: "https://a:1", apiKeyFile: "A"),
            named: "first")
        book.add(ServerContext(gateway: "http://b:2", apiKeyFile: "B"), named: "second")
        return book
    }

    /// Files have the key of their name.
    private func settings(
        _ options: GatewayValues = GatewayValues(), context: String? = nil,
        _ environment: [String: String] = [:], book: ContextBook? = nil
    ) throws(RTMError) -> GatewaySettings {
        try GatewaySettings(
            options, context: context, environment: environment, contexts: { book ?? self.book },
            readFile: { $0 == "bad" ? "secret" : $0 == "ca.pem" ? "PEM" : Self.key($0.last ?? "x") + "\n" })
    }

    @Test("the context in use has what isn't given; without one it is the gateway of this machine")
    func current() throws {
        let settings = try settings()
        #expect(settings.gateway.description == "https://a:1" && settings.appID == "app-a")
        #expect(settings.key == Self.key("A") && settings.ca == "ca.pem")
        let local = try self.settings([:], ["RTM_API_KEY": Self.key("E")])
        #expect(local.gateway.description == "http://127.0.0.1:7750" && local.appID == "dev")
        #expect(local.key == Self.key("E") && local.ca == nil)
    }

    private func settings(
        _ contexts: [String: ServerContext], _ environment: [String: String]
    ) throws(RTMError) -> GatewaySettings {
        try settings(GatewayValues(), environment, book: ContextBook(contexts: contexts))
    }

    @Test("options win over --context, that over the environment, and that over the context in use")
    func order() throws {
        let environment = [
            "RTM_GATEWAY": "http://e:3", "RTM_API_KEY_FILE": "E", "RTM_APP_ID": "app-e",
        ]
        let environed = try settings(GatewayValues(), environment)
        #expect(environed.gateway.description == "http://e:3" && environed.key == Self.key("E"))
        #expect(environed.appID == "app-e" && environed.ca == nil, "authorities are of TLS")
        let context = try settings(context: "second", environment)
        #expect(context.gateway.description == "http://b:2" && context.key == Self.key("B"))
        #expect(context.appID == "app-e")
        let option = GatewayValues(
            gateway: GatewayURL("http://o:4"), appID: "app-o", key: .file("O", source: "--api-key-file"))
        let given = try settings(option, context: "second", environment)
        #expect(given.gateway.description == "http://o:4" && given.key == Self.key("O"))
        #expect(given.appID == "app-o")
        #expect(
            try settings([:], ["RTM_API_KEY": Self.key("T"), "RTM_API_KEY_FILE": "E"]).key == Self.key("T"))
    }

    @Test("the key of a context goes to the context's gateway alone")
    func bound() throws {
        let other = GatewayValues(gateway: GatewayURL("http://evil:1"))
        #expect(throws: RTMError.self) { try settings(other) }
        #expect(throws: RTMError.self) { try settings(other, context: "second") }
        #expect(throws: RTMError.self) {
            try settings(GatewayValues(), ["RTM_GATEWAY": "http://evil:1"])
        }
        // A key that is named for this command may go anywhere.
        let environment = ["RTM_GATEWAY": "http://e:3", "RTM_API_KEY": Self.key("E")]
        #expect(try settings(other, environment).key == Self.key("E"))
        let same = GatewayValues(gateway: GatewayURL("http://b:2"))
        #expect(try settings(same, context: "second").key == Self.key("B"))
    }

    @Test("what is wrong is named, and no error has what a file holds")
    func refusals() throws {
        func reason(_ options: GatewayValues, _ environment: [String: String] = [:]) throws -> String {
            try #require(
                #expect(throws: RTMError.self) { try settings(options, environment, book: ContextBook()) }
            ).reason
        }
        #expect(try reason(GatewayValues()).hasPrefix("there is no API key for http://127.0.0.1:7750"))
        let bad = try reason(GatewayValues(key: .file("bad", source: "--api-key-file")))
        #expect(bad == "--api-key-file: 'bad' holds no API key, which begins with rtmk_")
        #expect(try !reason(GatewayValues(), ["RTM_API_KEY": "secret"]).contains("secret"))
        let gateway = try reason(GatewayValues(), ["RTM_GATEWAY": "a:1"])
        #expect(gateway.hasPrefix("RTM_GATEWAY: 'a:1' is no gateway"))
    }

    @Test(
        "a gateway is named by scheme, host and port",
        arguments: [
            ("http://a", "http://a"), ("https://a.b:1/", "https://a.b:1"),
            ("HTTP://[::1]:7", "http://[::1]:7"),
            ("a:1", nil), ("127.0.0.1:7750", nil), ("ftp://a", nil), ("http://", nil), ("http://u:p@a", nil),
            ("http://a/v1", nil), ("http://a:65536", nil), ("http://a:0", nil), ("http://a?b", nil),
            ("http://a#b", nil), ("", nil),
        ])
    func urls(text: String, expected: String?) {
        #expect(GatewayURL(text)?.description == expected)
    }

    @Test("a context with a key needs its gateway, and has the key's file alone")
    func context() throws {
        #expect(throws: (any Error).self) {
            try ContextAddCommand.parseAsRoot(["a", "--api-key-file", "f"])
        }
        #expect(throws: (any Error).self) { try ContextAddCommand.parseAsRoot(["a", "--gateway", "a:1"]) }
        _ = try ContextAddCommand.parseAsRoot(["a", "--gateway", "https://a:1", "--api-key-file", "f"])
        #expect(throws: (any Error).self) {
            try KeyShowCommand.parseAsRoot(["--api-key", Self.key("A")])
        }
    }
}

@Suite("What a gateway refuses, at the command line")
struct GatewayErrorTests {
    private func error(_ status: Int, _ body: String, retryAfter: String? = nil) -> GatewayError {
        GatewayError(status: status, body: body, retryAfter: retryAfter, operation: "usage")
    }

    @Test("code, name, reason, limit and when to come back are those of the answer")
    func answer() {
        let rate = error(
            429,
            #"{"error": {"code": -10021, "name": "operationRateExceedLimitation", "reason": "more than 5", "#
                + #""limit": {"name": "gateway.rates.key", "value": 5}, "retryAfter": 0.0201}}"#)
        #expect(
            rate.description
                == "usage: more than 5 (operationRateExceedLimitation -10021); gateway.rates.key is 5; "
                + "try again in 21 ms")
        #expect(
            rate.json.description
                == #"{"error":{"code":-10021,"name":"operationRateExceedLimitation","operation":"usage","#
                + #""reason":"more than 5","status":429,"limit":{"name":"gateway.rates.key","value":5},"#
                + #""retryAfterMilliseconds":21}}"#)
        #expect(rate.cameTooEarly && rate.mayPass)
        let scope = error(403, #"{"error": {"code": 0, "name": "missingScope", "reason": "this needs it"}}"#)
        #expect(scope.description == "usage: this needs it (missingScope 403)")
        #expect(!scope.cameTooEarly && !scope.mayPass)
        let conflict = error(
            409, #"{"error": {"code": 0, "name": "a", "reason": "b", "conflict": {"offset": 3}}}"#)
        #expect(conflict.json.description.contains(#""conflict":{"offset":3}"#))
    }

    @Test(
        "an answer that isn't a gateway's is named so",
        arguments: ["", "<html>", "[]", "{}", #"{"error":1}"#])
    func foreign(body: String) {
        let error = error(502, body, retryAfter: "7")
        #expect(error.name == "http" && error.reason.contains("the status 502"))
        #expect(error.retryAfter == .seconds(7) && error.mayPass)
    }

    @Test("JSON is read and written without a loss, in the order of the names")
    func json() {
        let text = #"{"a":18446744073709551615,"b":[1,-2,0.5,true,null,"x\n"],"c":{"d":""}}"#
        #expect(JSON(parsing: text)?.description == text)
        #expect(JSON(parsing: #"{"b": 1, "a": 2}"#)?.description == #"{"a":2,"b":1}"#)
        #expect(JSON(parsing: "{") == nil && JSON(parsing: "") == nil)
    }
}
