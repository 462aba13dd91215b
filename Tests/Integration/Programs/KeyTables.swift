import Foundation
import RTMTestSupport
import Testing

/// The tables of docs/configuration.md, made of what the programs print of their keys. A key of several
/// services stands there once, and of `rtm-standalone` only what isn't the same at the services.
struct KeyTables {
    /// With this line the tables begin.
    static let title = "## Keys of several services\n"

    /// A key of a program, as its row of `--print-reference` has it.
    struct Row {
        let key: String
        let flag: String
        let defaultValue: String
        let allowed: String
        let meaning: String

        init?(_ line: Substring) {
            let cells = line.dropFirst(2).dropLast(2).split(separator: " | ", maxSplits: 4).map(String.init)
            guard line.hasPrefix("| `"), cells.count == 5 else { return nil }
            key = cells[0].replacing("`", with: "")
            flag = cells[1].replacing("`", with: "")
            (defaultValue, allowed, meaning) = (cells[2], cells[3], cells[4])
        }

        /// The flag that the document gives as the rule for `rtm-standalone`.
        var usualFlag: String {
            let letters = key.replacing(".", with: "-")
            return "--" + letters.map { $0.isUppercase ? "-\($0.lowercased())" : String($0) }.joined()
        }

        /// A place that comes before several keys: `messaging.redis.` for `messaging.redis.sentinel.user`.
        var group: String? {
            let names = key.split(separator: ".")
            return names.count > 2 ? "\(names[0]).\(names[1])." : nil
        }
    }

    private struct Use {
        let service: String
        let row: Row
        /// No two programs' keys have the same.
        var name: String { "\(service) \(row.key)" }
    }

    private static let services = ["edge", "messaging", "presence", "storage", "gateway"]
    private let uses: [Use]
    private let standalone: [Row]

    init() throws {
        uses = try Self.services.flatMap { service in
            try Self.rows(of: "rtm-\(service)").map { Use(service: service, row: $0) }
        }
        standalone = try Self.rows(of: "rtm-standalone")
    }

    /// The keys of a program, which it prints itself.
    static func rows(of program: String) throws -> [Row] {
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = ServiceProcess.executables.appending(path: program)
        process.arguments = ["--print-reference"]
        process.standardOutput = output
        try process.run()
        let reference = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return reference.split(separator: "\n").compactMap { Row($0) }
    }

    // MARK: - The document

    var text: String {
        let shared = sameMeanings.filter { $0.count > 1 }
        let sharedNames = Set(shared.flatMap { group in group.map(\.name) })
        var lines = [Self.title, "| key | of | default | allowed | meaning |", "|---|---|---|---|---|"]
        lines += shared.map(Self.line)
        for service in Self.services {
            lines += ["", "## rtm-\(service)", ""]
            lines += ["| key | default | allowed | meaning |", "|---|---|---|---|"]
            let rows = uses.filter { $0.service == service && !sharedNames.contains($0.name) }.map(\.row)
            lines += rows.map { "| `\($0.key)` | \($0.defaultValue) | \($0.allowed) | \($0.meaning) |" }
        }
        lines += ["", "## rtm-standalone", ""] + introduction
        lines += ["", "| key | flag | default | allowed | meaning |", "|---|---|---|---|---|"]
        lines += ownRows.map {
            "| `\($0.key)` | `\($0.flag)` | \($0.defaultValue) | \($0.allowed) | \($0.meaning) |"
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The keys with one meaning and one range together, in the order in which the services have them.
    private var sameMeanings: [[Use]] {
        var order: [String] = []
        var groups: [String: [Use]] = [:]
        for use in uses {
            let meaning = "\(use.row.allowed) | \(use.row.meaning)"
            if groups[meaning] == nil { order.append(meaning) }
            groups[meaning, default: []].append(use)
        }
        return order.compactMap { groups[$0] }
    }

    private static func line(_ group: [Use]) -> String {
        let services = unique(group.map { $0.service })
        let of = services.count == Self.services.count ? "every service" : services.joined(separator: ", ")
        let keys = unique(group.map { "`\($0.row.key)`" }).joined(separator: ", ")
        let defaults = unique(group.map { $0.row.defaultValue }).joined(separator: ", ")
        return "| \(keys) | \(of) | \(defaults) | \(group[0].row.allowed) | \(group[0].row.meaning) |"
    }

    /// What `rtm-standalone` has beside the keys of the services, or with another default or flag.
    private var ownRows: [Row] {
        let usual = Dictionary(uses.map { ($0.row.key, $0.row.defaultValue) }) { first, _ in first }
        return standalone.filter { usual[$0.key] != $0.defaultValue || $0.flag != $0.usualFlag }
    }

    private var introduction: [String] {
        let known = Set(standalone.map { $0.key })
        let grouped = Dictionary(grouping: uses.map { $0.row }) { $0.group ?? "" }
        let missing = uses.map { $0.row }.filter { !known.contains($0.key) }.map { row in
            guard let group = row.group, let others = grouped[group],
                others.allSatisfy({ !known.contains($0.key) })
            else { return "`\(row.key)`" }
            return "`\(group)…`"
        }
        let list = Self.unique(missing).joined(separator: ", ")
        return Self.wrapped(
            "`rtm-standalone` has all keys of the services but \(list). These are its own, or have another "
                + "default or flag there:")
    }

    private static func unique(_ values: [String]) -> [String] {
        var seen: Set<String> = []
        return values.filter { seen.insert($0).inserted }
    }

    /// The lines of a paragraph, as docs/wrap.py would have them.
    private static func wrapped(_ text: String) -> [String] {
        text.split(separator: " ").reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.count + 1 + word.count <= 110 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}
