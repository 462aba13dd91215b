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
        let process = ChildProcess()
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

    // MARK: - The packages of others

    private static let supply = root.appending(path: "packaging/supply.py").path

    @Test("this build has the packages of the lock, and the notices are made from it")
    func supply() throws {
        let check = try run(Self.supply, "check", in: Self.root)
        #expect(check.status == 0, "\(check.text)")
        let notices = try run(Self.supply, "notices", "--check", in: Self.root)
        #expect(notices.status == 0, "\(notices.text)")
    }

    @Test("a package with other files, another version or none in the lock is named")
    func otherPackages() async throws {
        let lock = try String(
            contentsOf: Self.root.appending(path: "packaging/packages.lock.json"), encoding: .utf8)
        try await Self.withFolder { folder in
            let other = folder.appending(path: "other.json")
            for (pattern, replacement, expected) in [
                (#/"sha256": "[0-9a-f]{64}"/#, #""sha256": "0""#, "async-http-client has the sha256 "),
                (#/"tree": "[0-9a-f]{40}"/#, #""tree": "0""#, "async-http-client has the tree "),
                (#/"version": "[^"]+"/#, #""version": "0""#, "async-http-client has the version "),
                (#/"async-http-client"/#, #""another""#, "async-http-client isn't in the lock"),
            ] as [(any RegexComponent, String, String)] {
                let changed = lock.replacing(pattern, with: replacement, maxReplacements: 1)
                try Data(changed.utf8).write(to: other)
                let (status, text) = try run(Self.supply, "check", "--lock", other.path, in: folder)
                #expect(status == 1)
                #expect(text.contains(expected), "\(text)")
            }
        }
    }

    @Test("the list of what is in an image names packages and system libraries with their versions")
    func billOfMaterials() async throws {
        struct Document: Decodable {
            struct Component: Decodable { let name, version, purl: String }

            let bomFormat: String
            let components: [Component]
        }
        try await Self.withFolder { folder in
            // As it lies where /lib is /usr/lib.
            let library = try run(
                "sh", "-c", "dpkg-query --listfiles zlib1g | sed -n 's|^/usr||; /libz.so.1$/p'", in: folder
            ).text
            let copy = folder.appending(path: "root/usr\(library)")
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data().write(to: copy)
            let licenses = folder.appending(path: "licenses")
            let (status, text) = try run(
                Self.supply, "sbom", "--version", "1.2.3", "--root", "root", "--copyrights", licenses.path,
                in: folder)
            #expect(status == 0, "\(text)")
            let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
            #expect(document.bomFormat == "CycloneDX")
            for package in ["pkg:swift/github.com/apple/swift-nio@", "pkg:deb/debian/zlib1g@"] {
                #expect(document.components.contains { $0.purl.hasPrefix(package) }, "\(package)")
            }
            #expect(FileManager.default.fileExists(atPath: licenses.appending(path: "zlib1g").path))
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
