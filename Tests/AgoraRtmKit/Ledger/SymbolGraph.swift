import Foundation
import RTMTestSupport

/// What the compiler says that a module offers.
struct SymbolGraph {
    /// By type, or by `module` for what stands outside of types: declarations as the ledger writes them.
    private(set) var members: [String: Set<String>] = [:]
    /// The same of calls that are waited for with `await`.
    private(set) var asyncCalls: [String: Set<String>] = [:]

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private struct File: Decodable {
        let symbols: [Symbol]
    }

    struct Symbol: Decodable {
        struct Kind: Decodable { let identifier: String }
        struct Fragment: Decodable {
            let kind: String
            let spelling: String
        }

        let kind: Kind
        let pathComponents: [String]
        let declarationFragments: [Fragment]
    }

    init(_ json: Data) throws {
        let symbols = try JSONDecoder().decode(File.self, from: json).symbols
        for symbol in symbols { add(symbol) }
    }

    private static let types: Set = ["swift.class", "swift.struct", "swift.enum", "swift.protocol"]

    private mutating func add(_ symbol: Symbol) {
        let path = symbol.pathComponents
        if Self.types.contains(symbol.kind.identifier) {
            members[path.joined(separator: "."), default: []].formUnion([])
            return
        }
        let owner = path.count > 1 ? path.dropLast().joined(separator: ".") : "AgoraRtmKit"
        let declaration = symbol.declaration
        if declaration.contains(" async ") {
            asyncCalls[owner, default: []].insert(declaration)
        } else {
            members[owner, default: []].insert(declaration)
        }
    }

    /// Asks the compiler. The modules lie beside the test bundle.
    static func extract(_ module: String) throws -> SymbolGraph {
        let build = ServiceProcess.executables
        let output = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "swift", "symbolgraph-extract", "-module-name", module, "-minimum-access-level", "public",
                "-skip-synthesized-members", "-target", target, "-output-dir", output.path, "-I",
                build.appending(path: "Modules").path,
            ] + moduleMaps(build)
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "no symbol graph of \(module): \(String(decoding: complaints, as: UTF8.self))")
        }
        return try SymbolGraph(Data(contentsOf: output.appending(path: "\(module).symbols.json")))
    }

    /// A module that was built for tests is only read beside the C modules that it was built with. Some have
    /// their map among their headers, for others the build wrote one.
    private static func moduleMaps(_ build: URL) -> [String] {
        let checkouts = build.deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "checkouts")
        let headers = children(of: checkouts).flatMap { children(of: $0.appending(path: "Sources")) }
            .map { $0.appending(path: "include") }
        return (children(of: build) + headers).map { $0.appending(path: "module.modulemap").path }
            .filter(FileManager.default.fileExists).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }

    private static func children(of folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appending(path: $0) }
    }

    private static var target: String {
        #if arch(arm64)
            let architecture = "aarch64"
        #else
            let architecture = "x86_64"
        #endif
        return "\(architecture)-unknown-linux-gnu"
    }
}

extension SymbolGraph.Symbol {
    /// The declaration as the ledger writes it: without attributes, inner names, defaults and accessors.
    fileprivate var declaration: String {
        var text = ""
        for (index, fragment) in declarationFragments.enumerated() {
            switch fragment.kind {
            case "attribute", "internalParam": continue
            case "text" where fragment.spelling == " ":
                // The space that stood between the two names of a parameter, or behind an attribute.
                let isBeforeName = declarationFragments.dropFirst(index + 1).first?.kind == "internalParam"
                if !isBeforeName, !text.isEmpty, !text.hasSuffix(" ") { text += " " }
            default: text += fragment.spelling
            }
        }
        if kind.identifier == "swift.typealias", let value = text.firstRange(of: " = ") {
            return String(text[..<value.lowerBound])
        }
        text = text.replacing(#/ = [^,)]+(?=[,)])/#, with: "").replacing(" : ", with: ": ")
        text = text.replacing(#/ \{[^}]*\}$/#, with: "")
        // Words that say nothing to a caller.
        for word in ["final ", "override ", "convenience ", "required ", "class "] where text.hasPrefix(word)
        {
            text.removeFirst(word.count)
        }
        return text
    }
}
