import ArgumentParser
import RTMAccessToken
import RTMClient
import Testing

@testable import rtm

@Suite("Whom to talk to")
struct ConnectionSettingsTests {
    @Test("with nothing given it is the local standalone stack and a guest")
    func defaults() throws {
        let settings = try ConnectionSettings(environment: [:], guest: "guest-1")
        #expect(settings.servers.map(\.description) == ["127.0.0.1:7710"])
        #expect(settings.appID == "dev")
        #expect(settings.userID == "guest-1")
        #expect(settings.token == nil)
    }

    @Test("the environment speaks where no option does; empty variables are none")
    func environment() throws {
        let settings = try ConnectionSettings(
            ConnectionValues(appID: "mine"),
            environment: [
                "RTM_SERVER": "a:1, [::1]:2", "RTM_APP_ID": "theirs", "RTM_USER": "bob", "RTM_TOKEN": "",
            ], guest: "guest-1")
        #expect(settings.servers == [ServerAddress(host: "a", port: 1), ServerAddress(host: "::1", port: 2)])
        #expect(settings.appID == "mine")
        #expect(settings.userID == "bob")
        #expect(settings.token == nil)
    }

    @Test("a token comes from the option, else the variable, else the file")
    func token() throws {
        func token(_ option: String?, _ environment: [String: String]) throws -> String? {
            try ConnectionSettings(
                ConnectionValues(token: option), environment: environment, guest: "g",
                readFile: { "content of \($0)\n" }
            ).token
        }
        let file = ["RTM_TOKEN_FILE": "t.txt"]
        #expect(try token(nil, file) == "content of t.txt")
        #expect(try token(nil, file.merging(["RTM_TOKEN": "v"]) { $1 }) == "v")
        #expect(try token("o", ["RTM_TOKEN": "v"]) == "o")
    }

    @Test("what can't be read is refused by the name of its variable")
    func refusals() {
        struct Missing: Error {}
        let address = #expect(throws: RTMError.self) {
            try ConnectionSettings(environment: ["RTM_SERVER": "a:b"], guest: "g")
        }
        #expect(address?.code == .invalidParameter)
        #expect(address?.reason.hasPrefix("RTM_SERVER: ") == true)
        let file = #expect(throws: RTMError.self) {
            try ConnectionSettings(
                environment: ["RTM_TOKEN_FILE": "x"], guest: "g", readFile: { _ in throw Missing() })
        }
        #expect(file?.reason.contains("RTM_TOKEN_FILE") == true)
        let authorities = #expect(throws: RTMError.self) {
            try ConnectionSettings(ConnectionValues(ca: "/nowhere/ca.pem"), environment: [:], guest: "g")
        }
        #expect(authorities?.reason == "--ca: '/nowhere/ca.pem' can't be read: No such file or directory")
    }

    @Test("who names no user and no token is a guest, and a guest has no history of messages")
    func history() throws {
        func source(_ words: [String], user: String?) throws -> MessageDestination {
            let command = try HistoryShowCommand.parse(words)
            return try command.source(
                ConnectionSettings(ConnectionValues(userID: user), environment: [:], guest: "guest-1"))
        }
        #expect(try source(["lobby"], user: nil) == .channel("lobby"))
        #expect(try source([], user: "anna") == .user("anna"))
        let refusal = #expect(throws: ValidationError.self) { try source([], user: nil) }
        #expect(
            refusal?.message
                == "name the channel whose messages to show, or with --user the user who received them")
    }

    @Test("a token names its app and its user, unless they are given beside it or before it")
    func tokenOwner() throws {
        func settings(_ options: ConnectionValues, _ environment: [String: String] = [:]) throws
            -> ConnectionSettings
        {
            try ConnectionSettings(options, environment: environment, guest: "guest-1")
        }
        let token = try AccessToken(
            appID: app, issuedAt: 1, lifetimeSeconds: 60,
            services: [TokenService(.rtm(user: "anna"), privileges: [:])]
        ).signed(with: app).text
        let own = try settings(ConnectionValues(token: token))
        #expect(own.appID == app)
        #expect(own.userID == "anna")
        #expect(try settings(ConnectionValues(userID: "bob", token: token)).userID == "bob")
        #expect(try settings(ConnectionValues(token: token), ["RTM_USER": "bob"]).userID == "anna")
        #expect(try settings(ConnectionValues(), ["RTM_TOKEN": token]).userID == "anna")
        #expect(try settings(ConnectionValues(token: "no token")).userID == "guest-1")
    }

    @Test("N-3: TLS is left to the address unless it, or authorities, are asked for")
    func encryption() throws {
        func encryption(_ options: ConnectionValues) throws -> RTMClient.TLS {
            try ConnectionSettings(options, environment: [:], guest: "g", readFile: { _ in "" }).encryption
        }
        #expect(try encryption(ConnectionValues()) == .automatic())
        #expect(try encryption(ConnectionValues(ca: "a.pem")) == .enabled(caFile: "a.pem"))
        #expect(try encryption(ConnectionValues(tls: true, ca: "a.pem")) == .enabled(caFile: "a.pem"))
        #expect(try encryption(ConnectionValues(tls: false)) == .disabled)
    }

    private let app = String(repeating: "0a", count: 16)

    @Test("guests' names are legal user ids (L-1, L-2) and differ")
    func guests() throws {
        let names = (0..<50).map { _ in GuestName.random() }
        for name in names { try NameRule.user.check(name.utf8) }
        #expect(Set(names).count > 40)
    }

    @Test(
        "durations have a unit",
        arguments: [
            ("500ms", Duration.milliseconds(500)), ("10s", .seconds(10)), ("1.5s", .milliseconds(1500)),
            ("2m", .seconds(120)), ("1h", .seconds(3600)), ("0s", .zero),
        ])
    func durations(text: String, duration: Duration) throws {
        #expect(try Duration(argument: text) == duration)
    }

    @Test(
        "other things are no durations",
        arguments: ["", "10", "s", "-1s", "1 s", "1d", "1e9s", "1.2.3s", "99999999999h", "nan", "½s"])
    func notDurations(text: String) {
        #expect(throws: (any Error).self) { try Duration(argument: text) }
    }
}
