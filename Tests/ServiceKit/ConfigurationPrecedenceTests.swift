import Testing

@testable import RTMServiceKit

@Suite("Precedence: flags over environment over file over defaults")
struct ConfigurationPrecedenceTests {
    /// The sixteen combinations are four bits: which of flag, variable and file give a value. The default is
    /// always there.
    @Test("the strongest source that gives a value wins and is named as its origin", arguments: 0..<8)
    func strongestWins(combination: Int) throws {
        let (hasFlag, hasVariable, hasFile) = (
            combination & 4 != 0, combination & 2 != 0, combination & 1 != 0
        )
        let arguments = (hasFile ? ["--config", "relay.yaml"] : []) + (hasFlag ? ["--depth", "4"] : [])
        let configuration = try RelayKeys.load(
            arguments, hasVariable ? ["RTM_RELAY_DEPTH": "3"] : [:],
            files: ["relay.yaml": "relay:\n  name: two\n  depth: 2\n"])
        let origin = configuration.origin(of: RelayKeys.depth)
        switch (hasFlag, hasVariable, hasFile) {
        case (true, _, _):
            #expect(configuration[RelayKeys.depth] == 4)
            #expect(origin == .flag("--depth"))
        case (false, true, _):
            #expect(configuration[RelayKeys.depth] == 3)
            #expect(origin == .variable("RTM_RELAY_DEPTH"))
        case (false, false, true):
            #expect(configuration[RelayKeys.depth] == 2)
            #expect(origin == .file(path: "relay.yaml", line: 3))
        case (false, false, false):
            #expect(configuration[RelayKeys.depth] == 8)
            #expect(origin == .builtIn)
        }
    }

    @Test("every kind of key can be set by flag, by variable and in the file, with the same meaning")
    func everyKindEverywhere() throws {
        let texts = [
            ("relay.name", "three"), ("relay.directory", "/var/lib/x"), ("relay.depth", "5"),
            ("relay.eager", "true"),
            ("relay.handshakeDeadline", "500ms"), ("relay.queue.bytesMax", "32KiB"),
            ("relay.listen", "[::1]:80"),
            ("relay.upstream", "example.org:90"), ("relay.peers", "a,b"), ("relay.mode", "fast"),
            ("relay.redis.password", "pass word"), ("apps", "one,two:c2"),
        ]
        var arguments: [String] = []
        var environment: [String: String] = [:]
        var file = ""
        for (name, text) in texts {
            let key = try #require(RelayKeys.schema.key(named: name))
            arguments.append("--\(key.flag)=\(text)")
            environment[key.variable] = text
            file += "\(name): \"\(text)\"\n"
        }
        let byFlag = try RelayKeys.load(arguments)
        let byVariable = try RelayKeys.load([], environment)
        let byFile = try RelayKeys.load(["--config=f"], files: ["f": file])
        for configuration in [byFlag, byVariable, byFile] {
            #expect(configuration[RelayKeys.name] == "three")
            #expect(configuration[RelayKeys.directory] == "/var/lib/x")
            #expect(configuration[RelayKeys.depth] == 5)
            #expect(configuration[RelayKeys.eager])
            #expect(configuration[RelayKeys.handshakeDeadline] == .milliseconds(500))
            #expect(configuration[RelayKeys.queueBytes] == 32 * 1024)
            #expect(configuration[RelayKeys.listen] == HostPort(host: "::1", port: 80))
            #expect(configuration[RelayKeys.upstream] == HostPort(host: "example.org", port: 90))
            #expect(configuration[RelayKeys.peers] == ["a", "b"])
            #expect(configuration[RelayKeys.mode] == .fast)
            #expect(configuration[RelayKeys.password]?.revealed == "pass word")
            #expect(
                configuration[CommonKeys.apps]
                    == [AppRecord(id: "one"), AppRecord(id: "two", certificate: Secret("c2"))])
        }
    }

    @Test("the file is named by a flag or a variable, and the flag wins")
    func fileByFlagOrVariable() throws {
        let files = ["a": "relay: {depth: 1}", "b": "relay: {depth: 2}"]
        #expect(try RelayKeys.load([], ["RTM_CONFIG": "a"], files: files)[RelayKeys.depth] == 1)
        #expect(
            try RelayKeys.load(["--config", "b"], ["RTM_CONFIG": "a"], files: files)[RelayKeys.depth] == 2)
    }

    @Test("a nested section and a dotted path are the same key, and only one of them may give it")
    func dottedPath() throws {
        #expect(try RelayKeys.load(["--config", "f"], files: ["f": "relay.depth: 7"])[RelayKeys.depth] == 7)
        let twice = RelayKeys.problems(
            ["--config", "f"], files: ["f": "relay.depth: 7\nrelay:\n  depth: 8\n"])
        #expect(twice == ["relay.depth (f line 3): was given before, in line 1; keep one of them"])
    }

    @Test("an empty variable counts as not given, the last of two equal flags wins, a bare switch is true")
    func smallRules() throws {
        #expect(try RelayKeys.load([], ["RTM_RELAY_DEPTH": ""])[RelayKeys.depth] == 8)
        #expect(try RelayKeys.load(["--depth", "1", "--depth", "2"])[RelayKeys.depth] == 2)
        #expect(try RelayKeys.load(["--eager", "--depth", "2"])[RelayKeys.eager])
        #expect(try !RelayKeys.load(["--eager=false"])[RelayKeys.eager])
        // As --help writes it.
        #expect(try !RelayKeys.load(["--eager", "false", "--depth", "2"])[RelayKeys.eager])
        #expect(try RelayKeys.load(["--eager", "true", "--depth", "2"])[RelayKeys.eager])
    }

    @Test("the sources are summed up for the start line")
    func sources() throws {
        let configuration = try RelayKeys.load(
            ["--config", "f", "--eager"], ["RTM_RELAY_NAME": "x"], files: ["f": "relay.depth: 7"])
        #expect(configuration.sources == "environment, file f, flags")
        #expect(try RelayKeys.load().sources == "defaults")
    }
}
