import Foundation
import RTMClient

/// The file that holds the contexts: `rtm/contexts.json` in the user's configuration folder.
struct ContextFile: Sendable {
    /// Nil if the environment names no home. Then there are no contexts.
    let path: String?

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let named = environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        let home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.config" }
        path = (named ?? home).map { $0 + "/rtm/contexts.json" }
    }

    /// - Throws: `.invalidParameter` (-10014) when the file is there and can't be understood.
    func read() throws(RTMError) -> ContextBook {
        guard let path, FileManager.default.fileExists(atPath: path) else { return ContextBook() }
        do {
            return try JSONDecoder().decode(ContextBook.self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            let reason =
                error is DecodingError
                ? "the file doesn't hold what 'rtm context' writes; mend or remove it"
                : NamedFile.unreadable(path) ?? error.localizedDescription
            throw RTMError(
                .invalidParameter, "the contexts in '\(path)' can't be read: \(reason)", operation: "context")
        }
    }

    /// Writes the file anew. Only its owner may read it, because a context may hold a token.
    ///
    /// - Throws: `.invalidParameter` (-10014) when the file can't be written.
    func write(_ book: ContextBook) throws(RTMError) {
        guard let path else {
            throw RTMError(
                .invalidParameter, "there is no place for contexts: HOME is not set", operation: "context")
        }
        let url = URL(filePath: path)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            // The permissions are set before the rename, so that nobody else can ever read the contents.
            let draft = path + ".new"
            try? FileManager.default.removeItem(atPath: draft)
            let isMade = FileManager.default.createFile(
                atPath: draft, contents: try encoder.encode(book), attributes: [.posixPermissions: 0o600])
            guard isMade, rename(draft, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw RTMError(
                .invalidParameter,
                "the contexts can't be kept in '\(path)'; let this user write there, or set XDG_CONFIG_HOME",
                operation: "context")
        }
    }
}
