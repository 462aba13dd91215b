import Foundation
import RTMTestSupport
import Testing

/// `rtm dev` starts everything, and leaves nothing behind.
@Suite(.ends(withinMinutes: 1)) struct DevCommandTests {
    @Test("rtm dev: its token logs in, an app with a certificate demands one, and nothing is kept")
    func dev() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let ports = ["--listen", "--gateway-listen", "--edge-web-socket-listen", "--admin"]
            .flatMap { [$0, "127.0.0.1:0"] }
        let file = folder.appending(path: "output")
        let dev = try start(["dev", "--user", "ann", "--"] + ports, in: folder, output: file)
        defer { if dev.isRunning { dev.terminate() } }
        func shown() -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }
        func word(after prefix: String) throws -> String {
            let text = shown()
            let range = try #require(text.range(of: prefix), "\(text)")
            return String(text[range.upperBound...].prefix { !$0.isWhitespace })
        }
        try await eventually("the system is there: \(shown())", within: .seconds(30)) {
            shown().contains("Ctrl-C ends it")
        }
        let server = try word(after: "is listening on ")
        let certified = ["--server", server, "--app-id", try word(after: "The app ")]
        let token = ["--server", server, "--token", try word(after: "--token ")]
        #expect(try await status(of: ["publish", "lobby", "hi"] + token, in: folder) == 0)
        #expect(
            try await status(of: ["publish", "lobby", "hi", "--user", "ann"] + certified, in: folder) == 1)
        let open = ["--server", server, "--user", "ann"]
        #expect(try await status(of: ["publish", "lobby", "hi"] + open, in: folder) == 0)

        kill(dev.processIdentifier, SIGINT)
        try await eventually("rtm dev ends") { !dev.isRunning }
        #expect(dev.terminationStatus == 0)
        #expect(try await status(of: ["ping", "--timeout", "1s"] + open, in: folder) != 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["output"])
    }

    private func start(_ arguments: [String], in folder: URL, output: URL? = nil) throws -> ChildProcess {
        let process = ChildProcess()
        process.executableURL = ServiceProcess.executables.appending(path: "rtm")
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "TMPDIR": folder.path]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        if let output {
            try Data().write(to: output)
            process.standardOutput = try FileHandle(forWritingTo: output)
        }
        try process.run()
        return process
    }

    private func status(of arguments: [String], in folder: URL) async throws -> Int32 {
        let process = try start(arguments, in: folder)
        try await eventually("rtm \(arguments[0]) ends") { !process.isRunning }
        return process.terminationStatus
    }
}
