import Foundation
import RTMTestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a program does while nobody reads its log: the driver of a container that stands still, or a terminal
/// in which somebody has pressed Ctrl-S.
@Suite(.serialized) struct LogTests {
    @Test("a program whose log nobody reads serves all the same, and its log is whole afterwards")
    func fullPipe() async throws {
        let admin = "127.0.0.1:\(try FreePorts.take(1)[0])"
        let log = Pipe()
        fill(log.fileHandleForWriting.fileDescriptor)
        let process = ChildProcess()
        process.executableURL = ServiceProcess.executables.appending(path: "rtm-messaging")
        process.arguments = [
            "--listen", "127.0.0.1:0", "--admin", admin, "--log-format", "json", "--log-level", "debug",
        ]
        process.standardError = log
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        try await eventually("it is alive and says that it has started") {
            guard try await status("http://\(admin)/live") == 200 else { return false }
            return try await status("http://\(admin)/ready") == 200
        }
        let text = Task {
            String(decoding: log.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.terminate()
        try log.fileHandleForWriting.close()
        let lines = await text.value
        #expect(lines.contains("\"message\":\"started\"") && lines.contains("\"message\":\"stopped\""))
        #expect(!lines.contains("lines of the log were dropped here"))
    }

    /// Writes until nothing more fits.
    private func fill(_ descriptor: Int32) {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        let line = [UInt8](repeating: UInt8(ascii: "\n"), count: 4_096)
        while write(descriptor, line, line.count) > 0 {}
        while write(descriptor, line, 1) > 0 {}
        _ = fcntl(descriptor, F_SETFL, flags)
    }

    private func status(_ address: String) async throws -> Int? {
        let url = try #require(URL(string: address))
        let answer = try? await URLSession.shared.data(from: url)
        return (answer?.1 as? HTTPURLResponse)?.statusCode
    }
}
