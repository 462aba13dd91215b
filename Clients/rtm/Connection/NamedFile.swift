import Foundation
import RTMClient

/// The files that options, variables and contexts name.
enum NamedFile {
    /// - Parameters:
    ///   - source: who names the file: "--ca".
    ///   - operation: what the file is needed for.
    /// - Throws: `.invalidParameter` (-10014) with the source, the file and what is wrong with it.
    static func text(
        at path: String, _ source: String, for operation: String, _ readFile: (String) throws -> String
    ) throws(RTMError) -> String {
        do {
            return try readFile(path)
        } catch {
            let reason = unreadable(path) ?? error.localizedDescription
            throw RTMError(
                .invalidParameter, "\(source): '\(path)' can't be read: \(reason)", operation: operation)
        }
    }

    /// Why this user can't read the file, in the words of the system; nil if it can be read.
    static func unreadable(_ path: String) -> String? {
        access(path, R_OK) == 0 ? nil : String(cString: strerror(errno))
    }
}
