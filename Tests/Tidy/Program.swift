import Foundation
import RTMTestSupport

/// A program that a test runs in the root of the repository, to see what it says of the tree.
enum Program {
    /// The first 4,000 characters of what it prints are enough to see what is wrong.
    static func run(_ path: String, _ arguments: String...) throws -> (status: Int32, output: String) {
        let process = ChildProcess()
        process.executableURL =
            path.hasPrefix("/") ? URL(filePath: path) : SourceTree.root.appending(path: path)
        process.arguments = arguments
        process.currentDirectoryURL = SourceTree.root
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, String(text.prefix(4_000)))
    }
}
