package import Foundation

/// How a source is compiled.
package enum Optimization: String, Sendable {
    /// As in debug builds.
    case none = "-Onone"
    /// As in release builds.
    case speed = "-O"
}

/// What the compiler says that a module offers.
package struct SymbolGraph {
    /// By type, or by `module` for what stands outside of types: declarations as the ledger writes them.
    package private(set) var members: [String: Set<String>] = [:]
    /// The same of calls that are waited for with `await`.
    package private(set) var asyncCalls: [String: Set<String>] = [:]
    /// Names without a comment for users.
    package private(set) var undocumented: [String] = []

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private struct File: Decodable {
        let symbols: [Symbol]
    }

    fileprivate struct Symbol: Decodable {
        struct Kind: Decodable { let identifier: String }
        struct Fragment: Decodable {
            let kind: String
            let spelling: String
        }

        let kind: Kind
        let pathComponents: [String]
        let declarationFragments: [Fragment]
        let docComment: Comment?

        struct Comment: Decodable {}
    }

    init(_ json: Data) throws {
        let symbols = try JSONDecoder().decode(File.self, from: json).symbols
        for symbol in symbols { add(symbol) }
    }

    private static let types: Set = ["swift.class", "swift.struct", "swift.enum", "swift.protocol"]

    private mutating func add(_ symbol: Symbol) {
        let path = symbol.pathComponents
        if symbol.docComment == nil { undocumented.append(path.joined(separator: ".")) }
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
    package static func extract(_ module: String) throws -> SymbolGraph {
        let output = FileManager.default.temporaryDirectory.appending(path: "graph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: output) }
        let complaints = try complaints(
            of: [
                "swift", "symbolgraph-extract", "-module-name", module, "-minimum-access-level", "public",
                "-skip-synthesized-members", "-target", target, "-output-dir", output.path,
            ] + builtModules)
        if let complaints { throw Failure(description: "no symbol graph of \(module): \(complaints)") }
        return try SymbolGraph(Data(contentsOf: output.appending(path: "\(module).symbols.json")))
    }

    /// What the compiler says against a source that uses the modules; nil if it compiles.
    package static func complaints(of source: URL, _ optimization: Optimization) throws -> String? {
        let object = source.appendingPathExtension("o")
        defer { try? FileManager.default.removeItem(at: object) }
        return try complaints(
            of: ["swiftc", "-emit-object", "-parse-as-library", "-swift-version", "6"]
                + [optimization.rawValue, "-o", object.path] + macros + builtModules + [source.path])
    }

    /// The macros of Swift Testing, which lie beside the compiler.
    private static var macros: [String] {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let compiler = folders.map { URL(fileURLWithPath: "\($0)/swiftc") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let compiler else { return [] }
        let toolchain = compiler.resolvingSymlinksInPath().deletingLastPathComponent()
            .deletingLastPathComponent()
        return ["-plugin-path", toolchain.appending(path: "lib/swift/host/plugins/testing").path]
    }

    private static func complaints(of command: [String]) throws -> String? {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : text
    }

    /// A module that was built for tests is only read beside the C modules that it was built with. Some have
    /// their map among their headers, for others the build wrote one.
    private static var builtModules: [String] {
        let build = ServiceProcess.executables
        let root = build.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let checkouts = root.appending(path: ".build/checkouts")
        let headers = children(of: checkouts).flatMap { children(of: $0.appending(path: "Sources")) }
            .map { $0.appending(path: "include") }
        let generated = root.appending(path: "protocol/generated/c/include")
        let own = children(of: root.appending(path: "Shared")) + [generated]
        let maps = (children(of: build) + headers + own).map { $0.appending(path: "module.modulemap").path }
            .filter(FileManager.default.fileExists).flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        return ["-I", build.appending(path: "Modules").path, "-Xcc", "-I\(generated.path)"] + maps
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
