import Testing

@testable import RTMServiceKit

@Suite("Values: what is read, and what is refused with key, origin and range")
struct ConfigurationValueTests {
    @Test(
        "durations are a whole number and a unit",
        arguments: [
            ("500us", Duration.microseconds(500)), ("60000001us", .microseconds(60_000_001)),
            ("500ms", .milliseconds(500)), ("30s", .seconds(30)),
            ("2m", .seconds(120)), ("1h", .seconds(3600)), ("7d", .seconds(604_800)), ("0s", .zero),
        ])
    func durations(text: String, duration: Duration) throws {
        #expect(try UnitText.duration(text) == duration)
        #expect(UnitText.duration(duration) == text)
    }

    @Test(
        "what is not a duration is refused",
        arguments: ["", "s", "30", "1.5s", "-3s", "3 s", "3S", "9999999999999s"])
    func notDurations(text: String) {
        #expect(throws: ValueRefusal.self) { try UnitText.duration(text) }
    }

    @Test(
        "sizes are bytes or a number and a binary unit",
        arguments: [
            ("0", 0), ("1000", 1000), ("32KiB", 32_768), ("4MiB", 4_194_304), ("2GiB", 2 << 30),
            ("3TiB", 3 << 40),
        ])
    func sizes(text: String, size: Int) throws {
        #expect(try UnitText.byteSize(text) == size)
        #expect(UnitText.byteSize(size) == text)
    }

    @Test(
        "what is not a size is refused",
        arguments: ["", "KiB", "32KB", "32kib", "-1", "9999999999TiB", "1e3", "٣"])
    func notSizes(text: String) {
        #expect(throws: ValueRefusal.self) { try UnitText.byteSize(text) }
    }

    @Test(
        "addresses are host and port, IPv6 in brackets",
        arguments: [
            ("127.0.0.1:7710", "127.0.0.1", 7710), ("[::1]:0", "::1", 0),
            ("edge.example.org:65535", "edge.example.org", 65535),
        ])
    func addresses(text: String, host: String, port: Int) throws {
        let address = try HostPort(text: text)
        #expect(address == HostPort(host: host, port: port))
        #expect(address.description == text)
    }

    @Test(
        "what is not an address is refused",
        arguments: [
            "", "7710", ":7710", "host", "host:", "host:x", "host:65536", "host:-1", "::1:80", "[]:1",
            "tcp://h:1", "a b:1",
        ])
    func notAddresses(text: String) {
        #expect(throws: ValueRefusal.self) { try HostPort(text: text) }
    }

    @Test(
        "a bad value names the key, its origin, the value and what is allowed",
        arguments: [
            ("depth", "0", "relay.depth (--depth): \"0\" is outside the allowed range 1…64"),
            (
                "depth", "99999999999999999999",
                "relay.depth (--depth): \"99999999999999999999\" is outside the allowed range 1…64"
            ),
            (
                "handshake-deadline", "9999999999999s",
                "relay.handshakeDeadline (--handshake-deadline): \"9999999999999s\" is outside the allowed "
                    + "range 100ms…2m"
            ),
            (
                "queue-bytes-max", "9999999999TiB",
                "relay.queue.bytesMax (--queue-bytes-max): \"9999999999TiB\" is outside the allowed range "
                    + "1KiB…4MiB"
            ),
            ("depth", "many", "relay.depth (--depth): \"many\" is not a whole number"),
            ("eager", "yes", "relay.eager (--eager): \"yes\" is neither true nor false"),
            ("mode", "slow", "relay.mode (--mode): \"slow\" is not one of fast, safe"),
            (
                "handshake-deadline", "5m",
                "relay.handshakeDeadline (--handshake-deadline): \"5m\" is outside the allowed range 100ms…2m"
            ),
            (
                "queue-bytes-max", "8MiB",
                "relay.queue.bytesMax (--queue-bytes-max): \"8MiB\" is outside the allowed range 1KiB…4MiB"
            ),
            ("name", "", "relay.name (--name): \"\" is empty"),
            (
                "peers", "a,b,c,d",
                "relay.peers (--peers): \"a,b,c,d\" has 4 entries, allowed is a list of at most 3 texts"
            ),
            (
                "listen", "7710",
                "relay.listen (--listen): \"7710\" has no port; write HOST:PORT such as 127.0.0.1:7710"
            ),
        ])
    func badValues(flag: String, text: String, problem: String) {
        #expect(RelayKeys.problems(["--\(flag)=\(text)"]) == [problem])
    }

    @Test("a variable and a line of the file are named the same way")
    func origins() {
        #expect(
            RelayKeys.problems([], ["RTM_RELAY_DEPTH": "x"])
                == ["relay.depth (RTM_RELAY_DEPTH): \"x\" is not a whole number"])
        #expect(
            RelayKeys.problems(["--config", "f"], files: ["f": "relay:\n  # comment\n  depth: x\n"])
                == ["relay.depth (f line 3): \"x\" is not a whole number"])
    }

    @Test("in the file: lists for texts, sections for values, nothing for something are refused")
    func shapes() {
        let file = "relay:\n  depth: [1]\n  listen: {host: x}\n  name:\n  peers: [[a]]\n  queue: 5\n"
        #expect(
            RelayKeys.problems(["--config", "f"], files: ["f": file]) == [
                "relay.depth (f line 2): the value is a list; expected is range 1…64",
                "relay.listen (f line 3): the value is a section; expected is HOST:PORT",
                "relay.name (f line 4): the value is empty; leave the key out for its default",
                "relay.peers (f line 5): the value is not a list of texts",
                "relay.queue (f line 6): is a section and has no value of its own",
            ])
    }

    @Test("a file that is missing, or is not a map of keys, is one problem that names it")
    func badFiles() {
        #expect(
            RelayKeys.problems(["--config", "f"])
                == [
                    "configuration file (f): can't be read: No such file or directory. "
                        + "Name a file that this user may read with --config or RTM_CONFIG"
                ])
        let list = RelayKeys.problems(["--config", "f"], files: ["f": "- a\n"])
        #expect(list == ["configuration file (f): does not begin with a key; write it like `edge:`"])
        for text in ["a: [", "relay:\n  depth: 1\n  depth: 2\n", "a: 1\n---\nb: 2\n", "{? [a, b] : c}"] {
            let problems = RelayKeys.problems(["--config", "f"], files: ["f": text])
            #expect(problems.count == 1)
            #expect(problems.first?.hasPrefix("configuration file (f): ") == true, "\(text)")
        }
        #expect(RelayKeys.problems(["--config", "f"], files: ["f": ""]).isEmpty)
        #expect(RelayKeys.problems(["--config", "f"], files: ["f": "relay:\n"]).isEmpty)
    }

    @Test(
        "records are maps in the file and id:certificate elsewhere; their errors name record and field only"
    )
    func records() throws {
        let file =
            "apps:\n  - {id: one, subscriptionsMax: 7, publishRate: 0, loginRate: 5, "
            + "historyRetention: 30d, channelMetadataRate: 40, userMetadataRate: 0, acquireLockRate: 3, "
            + "renewalRate: 4, sessionPublishRate: 5, appPublishBytes: 6MiB, sessionsMax: 7, service: none, "
            + "jwtKeys: /etc/keys.json, jwtIssuer: \"https://issuer.example/\", jwtAudience: chat, "
            + "jwtKeysURL: \"https://issuer.example/keys\", "
            + "events: 72h}\n"
            + "  - {id: two, certificate: c2}\n  - three:c3:9\n"
        var one = AppRecord(id: "one", subscriptionsMax: 7)
        one.publishRate = 0
        one.loginRate = 5
        one.historyRetention = .oneMonth
        one.channelMetadataRate = 40
        one.userMetadataRate = 0
        one.acquireLockRate = 3
        one.renewalRate = 4
        one.sessionPublishRate = 5
        one.appPublishBytes = 6 << 20
        one.sessionsMax = 7
        one.service = AppService.none
        one.jwtKeys = "/etc/keys.json"
        one.jwtIssuer = "https://issuer.example/"
        one.jwtAudience = "chat"
        one.jwtKeysURL = "https://issuer.example/keys"
        one.events = .seconds(72 * 3_600)
        #expect(
            try RelayKeys.load(["--config", "f"], files: ["f": file])[CommonKeys.apps] == [
                one, AppRecord(id: "two", certificate: Secret("c2")),
                AppRecord(id: "three", certificate: Secret("c3"), subscriptionsMax: 9),
            ])
        let bad = [
            "apps: [{certificate: tops}]": "the value has no id in record 1",
            "apps: [{id: a}, {id: b, certifcate: tops}]":
                "the value has the unknown field \"certifcate\" in record 2; did you mean certificate?",
            "apps: [{id: [a]}]": "the value has a id in record 1 that is a list; expected is a text",
            "apps: [a:tops:1:2:3:4:5:off:6:7:8:9:10:11:12:13:14:all:k:i:u:1h:b:c]":
                "the value has 24 parts in record 1; the form is "
                + "id:certificate:subscriptionsMax:publishRate:callRate:subscribeRate:loginRate:"
                + "historyRetention:channelMetadataRate:userMetadataRate:acquireLockRate:renewalRate:"
                + "sessionPublishRate:appPublishRate:sessionsMax:sessionPublishBytes:appPublishBytes:"
                + "service:jwtKeys:jwtIssuer:jwtAudience:events:jwtKeysURL",
            "apps: [{id: a, historyRetention: 2d}]":
                "the value has a historyRetention in record 1 that is not one of off, 1d, 7d, 30d, 90d, 365d, "
                + "permanent",
            "apps: {id: a}":
                "the value is a section; expected is a list of at most 10000 records with id, "
                + "certificate (optional), subscriptionsMax (optional), publishRate (optional), "
                + "callRate (optional), subscribeRate (optional), loginRate (optional), "
                + "historyRetention (optional), channelMetadataRate (optional), "
                + "userMetadataRate (optional), acquireLockRate (optional), renewalRate (optional), "
                + "sessionPublishRate (optional), appPublishRate (optional), sessionsMax (optional), "
                + "sessionPublishBytes (optional), appPublishBytes (optional), service (optional), "
                + "jwtKeys (optional), jwtIssuer (optional), jwtAudience (optional), events (optional), "
                + "jwtKeysURL (optional)",
        ]
        for (text, reason) in bad {
            #expect(
                RelayKeys.problems(["--config", "f"], files: ["f": text]) == ["apps (f line 1): \(reason)"])
        }
    }

    @Test("all problems are reported together")
    func allTogether() {
        let problems = RelayKeys.problems(
            ["--config", "f", "--depth", "0"], ["RTM_RELAY_MODE": "x"], files: ["f": "relay:\n  eager: 3\n"])
        #expect(problems.count == 3)
    }

    @Test("what only the service knows about a value is a problem of its key, with the origin")
    func ruleOfOneKey() {
        let rule = ConfigurationRule(RelayKeys.depth) { $0.isMultiple(of: 2) ? nil : "is odd" }
        #expect(
            RelayKeys.problems(["--depth", "7"], rules: [rule]) == ["relay.depth (--depth): the value is odd"]
        )
        #expect(RelayKeys.problems(["--depth", "8"], rules: [rule]).isEmpty)
        #expect(RelayKeys.problems(rules: [rule]).isEmpty)
    }

    @Test("a file that isn't YAML says where, how to mend it, and never what stands in it")
    func unreadableFiles() {
        let cases = [
            (
                "relay:\n  depth: 1\n  redis: {password: tops}\n  depth: 2\n",
                "has depth more than once in the section that begins in line 2; keep one of them"
            ),
            (
                "relay:\n\tredis: {password: tops}\n",
                "is not YAML, as line 2, column 1 shows: found character that cannot start any token; "
                    + "indent with spaces instead of tabs"
            ),
            (
                "relay:\n  redis: {password: tops\n",
                "is not YAML, as line 3, column 1 shows: did not find expected ',' or '}'"
            ),
        ]
        for (text, reason) in cases {
            #expect(
                RelayKeys.problems(["--config", "f"], files: ["f": text])
                    == ["configuration file (f): \(reason)"])
        }
    }
}
