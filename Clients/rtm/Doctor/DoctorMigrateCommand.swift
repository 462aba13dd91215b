import ArgumentParser
import Foundation
import RTMClient
import RTMLedger

struct DoctorMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "List what an app uses of the vendor's SDK, and what differs here.",
        discussion: """
            Reads the Swift sources below a folder, without comments and texts, and compares what they \
            use of AgoraRtmKit with the ledger that docs/compatibility.md is made of. It reads names and \
            labels, and doesn't know types: where two types have a member of one name it names the \
            likelier one. Nothing is changed.
            """)

    @Argument(help: "The folder of the app's sources, or one file.", completion: .directory)
    var folder: String

    @Flag(
        help: "Also list what works unchanged, and what is our choice where the vendor's documents disagree.")
    var all = false

    @Flag(help: "Write one JSON object.")
    var json = false

    func run() async throws {
        let output = Output(format: json ? .json : .human, transcript: Transcript())
        try await output.reportingErrors {
            let report = MigrationReport(try AppSources(at: folder), try Ledger.house())
            try await output.result(report.text(showsAll: all), "migration", report.json)
        }
    }
}

/// The sources of an app.
struct AppSources {
    struct File {
        let path: String
        let text: String
    }

    let swift: [File]
    /// The sources in Objective-C that use the SDK.
    let objectiveC: [String]

    init(swift: [File], objectiveC: [String] = []) {
        self.swift = swift
        self.objectiveC = objectiveC
    }

    /// What packages and tools keep beside an app's own sources.
    private static let foreign: Set = [".build", "build", "Pods", "Carthage", "DerivedData", "node_modules"]

    /// - Throws: `.invalidParameter` (-10014) if there is nothing to read.
    init(at path: String) throws(RTMError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw RTMError(.invalidParameter, "there is no file or folder '\(path)'", operation: "doctor")
        }
        var paths = [path]
        if isFolder.boolValue { paths = Self.paths(below: path) }
        swift = paths.filter { $0.hasSuffix(".swift") }.map { File(path: $0, text: Self.text(at: $0)) }
        objectiveC = paths.filter { path in
            [".m", ".mm", ".h"].contains { path.hasSuffix($0) } && Self.text(at: path).contains("AgoraRtm")
        }
        guard !swift.isEmpty || !objectiveC.isEmpty else {
            throw RTMError(.invalidParameter, "there are no sources in '\(path)'", operation: "doctor")
        }
    }

    private static func paths(below folder: String) -> [String] {
        guard let walk = FileManager.default.enumerator(atPath: folder) else { return [] }
        var found: [String] = []
        while let path = walk.nextObject() as? String {
            let name = path.split(separator: "/").last.map(String.init) ?? path
            if foreign.contains(name) || name.hasSuffix(".framework") || name.hasSuffix(".xcframework") {
                walk.skipDescendants()
            } else {
                found.append(folder + "/" + path)
            }
        }
        return found.sorted()
    }

    private static func text(at path: String) -> String {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
