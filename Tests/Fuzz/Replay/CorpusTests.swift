import Foundation
import RTMFuzzTargets
import Testing

/// Inputs that fuzzing has kept: those that reach something no other does, and those that once went wrong.
@Suite("The kept corpus")
struct CorpusTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "corpus")

    @Test(
        "every kept input is read without a trap, in the same way by both ways",
        arguments: FuzzTarget.allCases)
    func replay(_ target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Data(contentsOf: file)
            for input in [bytes, bytes.dropLast(), bytes + bytes] {
                do throws(Disagreement) {
                    try Self.run(target, Array(input))
                } catch {
                    Issue.record("\(target.rawValue)/\(file.lastPathComponent): \(error)")
                }
            }
        }
    }

    @Test("the corpus stays small: under 300 files and 300 KB")
    func size() throws {
        let files = try FuzzTarget.allCases.flatMap { target in
            try FileManager.default.contentsOfDirectory(
                at: Self.corpus.appending(path: target.rawValue), includingPropertiesForKeys: [.fileSizeKey])
        }
        let bytes = try files.reduce(0) {
            $0 + (try $1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
        }
        #expect(files.count < 300)
        #expect(bytes < 300_000)
    }

    private static func run(_ target: FuzzTarget, _ input: [UInt8]) throws(Disagreement) {
        let result: Result<Void, Disagreement> = input.withUnsafeBytes { bytes in
            Result { () throws(Disagreement) in try target.run(bytes) }
        }
        try result.get()
    }
}
