import Foundation
import RTMTestSupport
import Testing

/// What packages bring beside the programs, and the scripts that make and try them.
@Suite("Packages")
struct PackagingTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL

    private static func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    /// Runs a command, and returns how it ended and what it said.
    @discardableResult
    private func run(
        _ command: String..., in folder: URL, _ variables: [String: String] = [:]
    ) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    // MARK: - The Debian package

    private static let programs = [
        "rtm-standalone", "rtm-edge", "rtm-messaging", "rtm-presence", "rtm-storage",
    ]

    @Test(
        "the configuration that the package brings is right, also with everything in comments",
        arguments: programs)
    func example(program: String) async throws {
        let file = Self.root.appending(path: "packaging/examples/heliograph.yaml")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        // What may be put in has no space behind the sign, or is indented.
        let whole = lines.map { $0.prefixMatch(of: #/#([a-z]+:|  )/#) == nil ? $0 : $0.dropFirst() }
        #expect(lines != whole)
        try await Self.withFolder { folder in
            try Data(whole.joined(separator: "\n").utf8).write(to: folder.appending(path: "whole.yaml"))
            for path in [file.path, "whole.yaml"] {
                let path = [ServiceProcess.executables.appending(path: program).path, "--config", path]
                let (status, text) = try run(path[0], "--print-config", path[1], path[2], in: folder)
                #expect(status == 0, "\(text)")
                #expect(text.contains("log:"))
            }
        }
    }

    @Test("the version of a later commit is newer for Debian, on the same day too")
    func versions() async throws {
        try await Self.withFolder { folder in
            try run("git", "init", "--quiet", in: folder)
            var versions: [String] = []
            // The last one is a day later here, and only an hour later in the world.
            for date in ["2026-11-25T09:00:00Z", "2026-11-25T10:00:00Z", "2026-11-26T01:00:00+03:00"] {
                try run(
                    "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty",
                    "-m",
                    "a", in: folder, ["GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date])
                versions.append(
                    try run(Self.root.appending(path: "packaging/version.sh").path, in: folder).text)
            }
            try #require(versions.count == 3)
            for (earlier, later) in zip(versions, versions.dropFirst()) {
                let order = try run("dpkg", "--compare-versions", earlier, "lt", later, in: folder)
                #expect(order.status == 0, "\(earlier) is not before \(later)")
            }
            #expect(versions[2].contains("+git20261125.220000."))
        }
    }

    // MARK: - Containers

    @Test("an engine that is there and doesn't answer is named, and no success")
    func engine() async throws {
        try await Self.withFolder { folder in
            let docker = folder.appending(path: "docker")
            try Data("#!/bin/sh\necho 'no daemon runs' >&2\nexit 1\n".utf8).write(to: docker)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: docker.path)
            let path = "\(folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
            let (status, text) = try run(
                Self.root.appending(path: "Tests/Compose/run.py").path, in: folder,
                ["PATH": path, "ENGINE": "docker"])
            #expect(status == 77)
            #expect(
                text == "test-compose: NOTHING WAS RUN: docker doesn't answer (no daemon runs). "
                    + "`.ci/setup containers` installs what is missing")
        }
    }
}
