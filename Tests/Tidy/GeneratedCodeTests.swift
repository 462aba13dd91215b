import Foundation
import Testing

/// What is generated from protocol/schema is committed, so that a build needs no generator. It has to be what
/// the generators write.
@Suite("Generated code")
struct GeneratedCodeTests {
    @Test(
        "the generated code is what protocol/generate.sh writes",
        .enabled("protoc, protoc-c, protoc-gen-swift or python3 is not installed (protocol/generate.sh)") {
            Self.check.status != Self.generatorIsMissing
        })
    func isUpToDate() {
        #expect(Self.check.status == 0, "run 'make generate' and commit the result\n\(Self.check.output)")
    }

    private static let generatorIsMissing: Int32 = 3
    private static let check = run("protocol/generate.sh", ["--check"])

    private static func run(_ path: String, _ arguments: [String]) -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = SourceTree.root.appending(path: path)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        do {
            try process.run()
        } catch {
            return (-1, "\(path) could not be started: \(error)")
        }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, String(text.prefix(4000)))
    }
}
