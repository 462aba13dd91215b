import Foundation
import RTMTestSupport
import Testing

@testable import RTMServiceKit

/// What a program says of files and directories that keys name and that it can't use.
@Suite("Files that keys name")
struct NamedFileTests {
    private static let book = ConfigurationKey.optionalFile("relay.book", "What it reads.")
    private static let data = ConfigurationKey.string("relay.data", default: "data", "Where it writes.")

    private func configuration(_ arguments: String...) throws -> Configuration {
        let schema = ConfigurationSchema([Self.book.declaration, Self.data.declaration], section: "relay")
        return try ConfigurationLoader(schema: schema) { _ in "" }
            .load(arguments: arguments, environment: [:])
    }

    // MARK: - Files

    private func problem(_ configuration: Configuration, _ read: (String) throws -> String) -> String? {
        do {
            _ = try configuration.use(Self.book, for: "a poem", read) { text in
                guard text == "poem" else { throw TextFile.Failure(description: "it doesn't rhyme") }
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("a file that isn't there, or holds something else, is named with its key and what to set")
    func unusable() throws {
        let named = try configuration("--book", "a.pem")
        #expect(problem(named) { _ in "poem" } == nil)
        #expect(try problem(configuration()) { _ in "prose" } == nil)
        let advice = "Set relay.book to a PEM file with a poem that this user may read"
        #expect(
            problem(named) { _ in throw TextFile.Failure(description: "No such file or directory") }
                == "relay.book (--book): the file a.pem can't be read: No such file or directory. \(advice)")
        #expect(
            problem(named) { _ in "prose" }
                == "relay.book (--book): the file a.pem does not hold a poem: it doesn't rhyme. \(advice)")
    }

    // MARK: - Directories

    /// What the start says of a directory; `--check-config` has to say the same.
    private func refusal(_ path: String) async throws -> String? {
        let configuration = try configuration("--data", path)
        let problem = DataDirectory.problem(Self.data, configuration)
        let directory = DataDirectory(Self.data, configuration)
        do {
            try await directory.start()
            await directory.shutdown(deadline: .now)
            #expect(problem == nil)
            return nil
        } catch let failure as ServiceFailure {
            #expect(failure.status == .unavailable)
            if failure.cause.contains("in use") {
                #expect(problem == nil, "a directory of a running program is checked, too")
            } else {
                #expect(problem?.origin == "--data")
                #expect(problem.map { "\($0.subject): \($0.reason)" } == failure.cause)
            }
            return failure.cause
        }
    }

    @Test("--check-config leaves no trace in a directory, or above one that is missing")
    func checkLeavesNoTrace() throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: home) }
        for path in [home, home + "/a/b"] {
            #expect(DataDirectory.problem(Self.data, try configuration("--data", path)) == nil)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: home).isEmpty)
    }

    @Test("the lock file is its user's alone after a start, whatever the umask or a hand made of its mode")
    func modeOfTheLock() async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: home) }
        #expect(try await refusal(home) == nil)
        chmod(home + "/lock", 0o666)
        #expect(try await refusal(home) == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: home + "/lock")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a data directory that can't be made, written or had alone is named with its key and what to do")
    func directory() async throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: home) }
        #expect(try await refusal(home + "/a/b/c") == nil, "missing ones are made")
        #expect(try await refusal(home + "/a/b/c") == nil)
        for path in ["/a", "/a/b/c"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: home + path)
            #expect(attributes[.posixPermissions] as? Int == 0o700, "nobody else may enter")
        }
        let file = home + "/file"
        try Data().write(to: URL(filePath: file))
        for path in [file, file + "/below"] {
            #expect(
                try await refusal(path)
                    == "relay.data: the directory \(path) can't be made: Not a directory. "
                    + "Set relay.data to another one, or let this user make it")
        }
        let unwritable = home + "/unwritable"
        try FileManager.default.createDirectory(
            atPath: unwritable + "/lock", withIntermediateDirectories: true)
        #expect(
            try await refusal(unwritable)
                == "relay.data: the directory \(unwritable) can't be written: Is a directory. "
                + "Set relay.data to another one, or let this user write there")
        let first = DataDirectory(Self.data, try configuration("--data", home))
        try await first.start()
        #expect(
            try await refusal(home)
                == "relay.data: the directory \(home) is in use by another process. "
                + "Set relay.data to another one, or end that one")
        await first.shutdown(deadline: .now)
    }
}
