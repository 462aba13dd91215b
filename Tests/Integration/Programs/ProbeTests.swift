import Foundation
import RTMTestSupport
import Testing

/// The health check of a container: the executable asks the one that runs.
@Suite(.serialized) struct ProgramProbeTests {
    @Test("--probe exits with 0 while the program is ready, and with 1 and the cause when it isn't")
    func probe() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            for program in ["rtm-edge", "rtm-messaging", "rtm-presence", "rtm-storage"] {
                try await eventually("\(program) is ready", within: .seconds(30)) {
                    try probe(program, of: system).status == 0
                }
                #expect(try probe(program, of: system).text == "\(program) is ready.\n")
            }
            try await system.process("rtm-messaging").kill9()
            let messaging = try probe("rtm-messaging", of: system)
            #expect(messaging.status == 1)
            #expect(messaging.text.hasPrefix("rtm-messaging does not answer at 127.0.0.1:"))
            try await eventually("the edge isn't ready", within: .seconds(30)) {
                let edge = try probe("rtm-edge", of: system)
                return edge.status == 1 && edge.text.hasPrefix("rtm-edge is not ready: edge messaging: ")
            }
        }
    }

    private func probe(_ program: String, of system: RunningSystem) throws -> (status: Int32, text: String) {
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = ServiceProcess.executables.appending(path: program)
        process.arguments = ["--probe", "--admin", system.address("\(program) admin")]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}
