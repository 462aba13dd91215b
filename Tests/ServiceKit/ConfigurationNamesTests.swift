import Foundation
import RTMConfigurationFile
import RTMModel
import Testing

@testable import RTMServiceKit

@Suite("Names: unknown ones are refused with the nearest known one")
struct ConfigurationNamesTests {
    @Test("an unknown flag, also with its value, is refused once")
    func unknownFlag() {
        #expect(RelayKeys.problems(["--lisen", "a:1"]) == ["--lisen: unknown flag; did you mean --listen?"])
        #expect(
            RelayKeys.problems(["--chek-config"]) == [
                "--chek-config: unknown flag; did you mean --check-config?"
            ])
        #expect(RelayKeys.problems(["--zzzzzzzzzz=1"]) == ["--zzzzzzzzzz: unknown flag"])
    }

    @Test("a flag without its value and a stray argument are refused, and the stray one is not shown")
    func malformedCommandLine() {
        #expect(RelayKeys.problems(["--depth"]) == ["--depth: has no value"])
        #expect(RelayKeys.problems(["--depth", "--eager"]) == ["--depth: has no value"])
        #expect(
            RelayKeys.problems(["secret"]) == [
                "command line: unexpected argument; every value follows its flag"
            ])
        #expect(
            RelayKeys.problems(["-d"]) == ["command line: unexpected argument; flags begin with two dashes"])
    }

    @Test("an unknown variable that begins with RTM_ is refused, others are none of our business")
    func unknownVariable() {
        #expect(
            RelayKeys.problems([], ["RTM_RELAY_DETPH": "1", "RELAY_X": "1", "PATH": "/bin"])
                == ["RTM_RELAY_DETPH: unknown variable; did you mean RTM_RELAY_DEPTH?"])
        #expect(
            RelayKeys.problems([], ["RTM_LISTENN": "1"])
                == ["RTM_LISTENN: unknown variable; did you mean RTM_RELAY_LISTEN?"],
            "a name without its section is compared, too")
        #expect(RelayKeys.problems([], ["RTM_ZZZZZZZZ": "1"]) == ["RTM_ZZZZZZZZ: unknown variable"])
    }

    @Test("what Kubernetes makes of Services whose names begin with rtm is passed over, and typos aren't")
    func serviceLinks() throws {
        let links = [
            "RTM_SERVICE_HOST": "10.0.0.11", "RTM_SERVICE_PORT": "7710", "RTM_PORT": "tcp://10.0.0.11:7710",
            "RTM_RELAY_SERVICE_HOST": "10.0.0.12", "RTM_RELAY_SERVICE_PORT_WEB_SOCKET": "7712",
            "RTM_RELAY_PORT": "udp://10.0.0.12:7710", "RTM_RELAY_PORT_7710_TCP": "tcp://10.0.0.12:7710",
            "RTM_RELAY_PORT_7710_TCP_PROTO": "tcp", "RTM_RELAY_PORT_7710_TCP_PORT": "7710",
            "RTM_RELAY_PORT_7710_TCP_ADDR": "10.0.0.12",
        ]
        let configuration = try RelayKeys.load([], links)
        #expect(configuration.origins.serviceLinks == links.keys.sorted())
        #expect(RelayKeys.problems([], ["RTM_RELAY_PORT": "7710"]).count == 1)
        #expect(RelayKeys.problems([], ["RTM_RELAY_PORT_7710": "7710"]).count == 1)
    }

    @Test("no hint is the name itself")
    func noHintOfItself() {
        let schema = ConfigurationSchema(RelayKeys.all, section: "relay")
        let hint = UnknownName(schema: schema).hint(forVariable: "RTM_EDGE_QQQQQQQQQ", [])
        #expect(hint == "")
    }

    @Test("an unknown key in the file is refused with its line; what stands below it is not looked at")
    func unknownKey() {
        let file = "relay:\n  handshakeDedline: 3s\nrelays:\n  depth: 3\n"
        #expect(
            RelayKeys.problems(["--config", "f"], files: ["f": file]) == [
                "relay.handshakeDedline (f line 2): unknown key; did you mean relay.handshakeDeadline?",
                "relays (f line 3): unknown key; did you mean relay?",
            ])
    }

    @Test("a name of another program is recognised, and so is one in another form")
    func foreignNames() {
        let hints = [
            ("--storage-data", "; the keys of storage belong to rtm-storage"),
            ("--storage.data", "; the keys of storage belong to rtm-storage"),
            ("--relay.listen", "; did you mean --listen?"), ("--relay-depth", "; did you mean --depth?"),
            ("--relay.queue.bytesMax", "; did you mean --queue-bytes-max?"),
        ]
        for (flag, hint) in hints {
            #expect(RelayKeys.problems([flag, "x"]) == ["\(flag): unknown flag\(hint)"])
        }
        let file = "listen: a:1\nstorge:\n  data: x\n"
        #expect(
            RelayKeys.problems(["--config", "f"], files: ["f": file]) == [
                "listen (f line 1): unknown key; did you mean relay.listen?",
                "storge (f line 2): unknown key; did you mean storage?",
            ])
        #expect(
            RelayKeys.problems([], ["RTM_STORGE_DATA": "x"])
                == ["RTM_STORGE_DATA: unknown variable; did you mean RTM_STORAGE_DATA?"])
    }

    @Test("a set of keys lists each key that it has, and those of the sets in it, in their order")
    func listedKeys() {
        struct Inner: KeySet {
            let depth = ConfigurationKey<Int>.int("outer.inner.depth", default: 1, in: 0...9, "").live
            let name = "no key"
        }
        struct Outer: ServiceKeys {
            static let table = Self()
            let listen = ConfigurationKey<HostPort?>.optionalAddress("outer.listen", "").forOwnProcess
            let inner = Inner()
            let nodes = ServiceAddressesKey("outer.nodes", default: "127.0.0.1:1", "")
            let mode = ConfigurationKey<RelayKeys.Mode>.choice("outer.mode", default: .fast, "").live
        }
        #expect(
            Outer.declarations.map(\.name) == [
                "outer.listen", "outer.inner.depth", "outer.nodes", "outer.mode",
            ])
        #expect(Outer.live.map(\.name) == ["outer.inner.depth", "outer.mode"])
        let beside = ServiceDefinition(
            name: "outer", summary: "", keys: Outer.declarations, isInProcess: true
        ) { _ in Assembly([]) }
        #expect(beside.keys.map(\.name) == ["outer.inner.depth", "outer.mode"])
        #expect(beside.keysElsewhere.map(\.name) == ["outer.listen", "outer.nodes"])
    }

    @Test("a mistyped command gets the nearest one, and the word itself is not shown")
    func unknownCommand() {
        let commands = ["backup", "check"].map { ProgramCommand($0, "") { _ in .init("") } }
        func problems(_ words: String...) -> [String] {
            CommandLineArguments(words, schema: RelayKeys.schema, commands: commands).problems
                .map(\.description)
        }
        #expect(problems("chek") == ["command line: unknown command; did you mean check?"])
        #expect(
            problems("frobnicate", "--depth", "2")
                == ["command line: unknown command; the commands are backup and check"])
        #expect(problems("check", "--depth", "2") == [])
    }

    @Test("a command has options of its own, with and without a value")
    func options() {
        let ban = ProgramCommand(
            "ban", argument: "USER", options: [.init("by", value: "NAME"), .init("json")], ""
        ) { _ in .init("") }
        func arguments(_ words: String...) -> CommandLineArguments {
            CommandLineArguments(words, schema: RelayKeys.schema, commands: [ban])
        }
        #expect(ban.usage == "ban USER [--by NAME] [--json]")
        let all = arguments("ban", "bob", "--by", "ann", "--json", "--depth", "2")
        #expect(all.problems.isEmpty && all.operation?.argument == "bob")
        #expect(all.operation?.options == ["by": "ann", "json": ""])
        #expect(arguments("ban", "bob", "--by=ann").operation?.options == ["by": "ann"])
        #expect(arguments("ban", "bob", "--by").problems.map(\.description) == ["--by: has no value"])
        #expect(
            arguments("ban", "bob", "--json=x").problems.map(\.description) == ["--json: takes no value"])
        // Where no command is, they are unknown.
        #expect(arguments("--by", "ann").problems.map(\.description) == ["--by: unknown flag"])
    }

    @Test("sections and variables of sibling services and of the command line are passed over")
    func neighbours() throws {
        let environment = [
            "RTM_EDGE_LISTEN": "x", "RTM_STORAGE_ANYTHING": "x", "RTM_SERVER": "x", "RTM_APP_ID": "x",
            "RTM_USER": "x",
            "RTM_TOKEN": "x", "RTM_TOKEN_FILE": "x", "RTM_CERTIFICATE": "x", "RTM_CERTIFICATE_FILE": "x",
            "RTM_GATEWAY": "x", "RTM_API_KEY": "x", "RTM_API_KEY_FILE": "x",
        ]
        _ = try RelayKeys.load(
            ["--config", "f"], environment,
            files: ["f": "edge:\n  listen: x\nmessaging.listen: y\nhooks:\n  beforePublish: []\n"])
    }

    @Test("a shared key that only siblings have is passed over, with its file variable")
    func neighbouringKeys() throws {
        let schema = ConfigurationSchema([RelayKeys.depth.declaration], section: "relay")
        let loader = ConfigurationLoader(schema: schema, parse: FileNode.yaml) { _ in
            "apps: [a]\nlink:\n  secret: x\n"
        }
        _ = try loader.load(
            arguments: ["--config", "f"],
            environment: ["RTM_APPS": "a", "RTM_APPS_FILE": "b", "RTM_LINK_SECRET_FILE": "c"])
    }

    @Test("a section that the program itself has is its own, also when a sibling has the name")
    func ownSection() {
        let key = ConfigurationKey.int("edge.limit", default: 1, in: 0...9, "A limit.")
        let loader = ConfigurationLoader(schema: ConfigurationSchema([key.declaration], section: "edge")) {
            _ in ""
        }
        #expect(throws: ConfigurationError.self) {
            try loader.load(arguments: [], environment: ["RTM_EDGE_LIMITT": "1"])
        }
    }

    @Test("names of flags and variables follow from the key")
    func derivedNames() {
        let names = RelayKeys.schema.keys.map { [$0.name, $0.flag, $0.variable, $0.fileVariable ?? ""] }
        #expect(names.contains(["relay.queue.bytesMax", "queue-bytes-max", "RTM_RELAY_QUEUE_BYTES_MAX", ""]))
        #expect(
            names.contains([
                "relay.handshakeDeadline", "handshake-deadline", "RTM_RELAY_HANDSHAKE_DEADLINE", "",
            ]))
        #expect(
            names.contains([
                "relay.redis.password", "redis-password", "RTM_RELAY_REDIS_PASSWORD",
                "RTM_RELAY_REDIS_PASSWORD_FILE",
            ]))
        #expect(names.contains(["apps", "apps", "RTM_APPS", "RTM_APPS_FILE"]))
    }

    @Test(
        "a program of several services keeps sections in flags unless told otherwise, and may change defaults"
    )
    func composition() throws {
        let depth = ConfigurationKey.int("inner.depth", default: 1, in: 0...9, "How deep.")
        func service(_ name: String, _ keys: [KeyDeclaration]) -> ServiceDefinition {
            ServiceDefinition(name: name, summary: "", keys: keys) { _ in Assembly([]) }
        }
        let program = ServiceProgram(
            section: "both", summary: "",
            services: [
                service("relay", RelayKeys.all),
                service("inner", [depth.declaration, CommonKeys.apps.declaration]),
            ],
            admin: HostPort(host: "127.0.0.1", port: 0), flags: ["relay.listen": "listen"],
            defaults: ["inner.depth": "7", "threads": "1"])
        let configuration = try ConfigurationLoader(schema: program.schema) { _ in "" }.load(
            arguments: ["--listen", "a:1", "--relay-depth", "2", "--admin", "b:2"], environment: [:])
        #expect(configuration[RelayKeys.listen] == HostPort(host: "a", port: 1))
        #expect(configuration[RelayKeys.depth] == 2)
        #expect(configuration[program.adminKey] == HostPort(host: "b", port: 2))
        #expect(configuration[depth] == 7)
        #expect(configuration[CommonKeys.threads] == 1)
        #expect(configuration.origin(of: depth) == .builtIn)
    }

    @Test(
        "the distance counts insertions, removals, replacements and swaps",
        arguments: [
            ("", "abc", 3), ("abc", "abc", 0), ("acb", "abc", 1), ("listn", "listen", 1),
            ("kitten", "sitting", 3),
        ])
    func distance(first: String, second: String, expected: Int) {
        #expect(NearestName.distance(Array(first.utf8), Array(second.utf8)) == expected)
        #expect(NearestName.distance(Array(second.utf8), Array(first.utf8)) == expected)
    }
}
