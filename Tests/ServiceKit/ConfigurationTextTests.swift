import Testing

@testable import RTMServiceKit

@Suite("Derived texts: printed configuration, help, document")
struct ConfigurationTextTests {
    /// The text without the origins, which differ by design.
    private func values(_ yaml: String) -> [String] {
        yaml.split(separator: "\n").map { line in
            line.split(separator: "  #", maxSplits: 1).first.map(String.init) ?? ""
        }
    }

    @Test("the defaults are printed as nested YAML, each with its origin")
    func golden() throws {
        #expect(
            try RelayKeys.load(["--depth", "9"]).yaml == """
                relay:
                  name: one  # default
                  # directory: not set
                  depth: 9  # --depth
                  eager: false  # default
                  handshakeDeadline: 5s  # default
                  queue:
                    bytesMax: 64KiB  # default
                  listen: 127.0.0.1:7790  # default
                  # upstream: not set
                  peers: []  # default
                  mode: safe  # default
                  redis:
                    # password: not set
                apps: [{id: dev}]  # default

                """)
    }

    @Test(
        "what is printed and fed back gives the same configuration",
        arguments: [
            [], ["--name", "a # b: \"c\"\\ \n\té\u{7F}"], ["--name", "null"], ["--name", "~"],
            ["--name", "12:"], ["--name", "- x"],
            ["--name", "[x"], ["--name", " x "], ["--name", "<masked>"], ["--name", "0x1F"],
            ["--name", "\u{2028}"], ["--peers", "null,a: b"],
            [
                "--listen", "[::1]:0", "--upstream", "h:1", "--handshake-deadline", "1500ms",
                "--queue-bytes-max", "1025",
            ],
            ["--apps", "x,null,0", "--directory", "/a/b-c_d.e", "--mode", "fast", "--eager"],
        ])
    func feedBack(arguments: [String]) throws {
        let first = try RelayKeys.load(arguments)
        let second = try RelayKeys.load(["--config", "f"], files: ["f": first.yaml])
        #expect(second.settings.mapValues(\.value) == first.settings.mapValues(\.value))
        #expect(values(second.yaml) == values(first.yaml))
    }

    @Test("help and document name every key with flag, variable and default")
    func reference() {
        let help = ConfigurationReference.help(RelayKeys.schema)
        let document = ConfigurationReference.section("rtm-relay", RelayKeys.schema)
        for key in RelayKeys.schema.keys {
            #expect(help.contains("--\(key.flag) "))
            #expect(help.contains("\(key.variable); \(key.name)\n"))
            #expect(document.contains("| `\(key.name)` | `--\(key.flag)` |"))
        }
        #expect(document.hasPrefix("## rtm-relay\n\n| key |"))
        #expect(
            document.contains(
                "| `relay.mode` | `--mode` | `safe` | fast, safe | How it works. |"))
    }
}
