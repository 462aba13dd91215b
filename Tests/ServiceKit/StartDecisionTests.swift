import RTMConfigurationFile
import Testing

@testable import RTMServiceKit

@Suite("The command line decides: run, or say something and exit")
struct StartDecisionTests {
    private let program = ServiceProgram(
        ServiceDefinition(name: "relay", summary: "relays things", keys: RelayKeys.all) { _ in Assembly([]) },
        admin: HostPort(host: "127.0.0.1", port: 7791))

    private func decide(_ arguments: String..., environment: [String: String] = [:]) -> StartDecision {
        StartDecision(
            program, arguments: arguments, environment: environment, parse: FileNode.yaml,
            readFile: { _ in "" })
    }

    private func output(_ decision: StartDecision) -> (text: String, stream: StandardStream, status: Int32)? {
        guard case .write(let text, let stream, let status) = decision else { return nil }
        return (text, stream, status.rawValue)
    }

    @Test("--help and --version answer on standard output with 0, whatever else is wrong")
    func helpAndVersion() throws {
        let help = try #require(output(decide("--nonsense", "--help")))
        #expect(
            help.text.hasPrefix("rtm-relay \(BuildInformation.version): relays things\n\nUsage: rtm-relay "))
        #expect(help.status == 0 && help.stream == .output)
        let version = try #require(output(decide("--version", "--check-config")))
        #expect(version.text == "rtm-relay \(BuildInformation.version)\n")
        #expect(version.status == 0)
    }

    @Test("--check-config says ok with 0, or every problem on standard error with 2")
    func check() throws {
        #expect(try #require(output(decide("--check-config"))).text == "ok\n")
        let bad = try #require(
            output(decide("--check-config", "--depth", "0", environment: ["RTM_RELAY_MODE": "x"])))
        #expect(bad.status == 2 && bad.stream == .error)
        #expect(bad.text.split(separator: "\n").count == 2)
    }

    @Test("--check-config opens the files that the configuration names")
    func checkedFiles() throws {
        let program = ServiceProgram(
            ServiceDefinition(
                name: "relay", summary: "", keys: RelayKeys.all,
                check: { configuration, read in
                    do {
                        _ = try read(configuration[RelayKeys.name])
                        return nil
                    } catch {
                        return .init("relay.name", from: nil, "\(error)")
                    }
                }
            ) { _ in Assembly([]) },
            admin: HostPort(host: "127.0.0.1", port: 7791))
        let decision = StartDecision(
            program, arguments: ["--check-config", "--name", "gone"], environment: [:], parse: FileNode.yaml,
            readFile: { throw TextFile.Failure(description: "no file \($0)") })
        #expect(try #require(output(decision)).text == "relay.name: no file gone\n")
        #expect(try #require(output(decision)).status == 2)
    }

    @Test("--print-config prints the effective values, or the problems")
    func printed() throws {
        let printed = try #require(output(decide("--print-config", "--log-level", "debug")))
        #expect(printed.text.contains("log:\n  level: debug  # --log-level\n  format: auto  # default\n"))
        #expect(printed.text.contains("  admin: 127.0.0.1:7791  # default\n"))
        #expect(try #require(output(decide("--print-config", "--depth", "0"))).status == 2)
    }

    @Test("--print-reference prints the table of the program's keys")
    func reference() throws {
        let text = try #require(output(decide("--print-reference"))).text
        #expect(text == ConfigurationReference.section("rtm-relay", program.schema))
    }

    @Test("without a command the program runs, or its configuration is refused")
    func run() {
        guard case .run(let configuration) = decide("--threads", "3") else {
            Issue.record("it does not run")
            return
        }
        #expect(configuration[CommonKeys.threads] == 3)
        guard case .refuse(let error) = decide("--threads", "-3") else {
            Issue.record("it is not refused")
            return
        }
        #expect(error.problems.count == 1)
    }
}
