/// The rules of the house that one line, or a line and the comment above it, can break. Each finding names
/// what to do instead (CONTRIBUTING.md).
enum LineRules {
    static let columnsMax = 110

    /// Only `Tests/Support/Eventually.swift` lets time pass.
    static func sleeps(in file: SwiftFile) -> [Violation] {
        file.violations(#/\b(?:Task|Thread)\s*\.\s*sleep\b|(?:^|[^\w.])(?:u|nano)?sleep\s*\(/#) {
            "no sleeping in tests: advance the virtual clock, await the event, or use eventually(_:within:)"
        }
    }

    static func crashes(in file: SwiftFile) -> [Violation] {
        file.violations(#/\btry!/#) { "no try!: throw, or handle the error here" }
            + file.violations(#/(?:^|[^\w.])fatalError\s*\(/#) {
                "no fatalError: throw an RTMError, or state the invariant with precondition(_:_:)"
            }
    }

    /// Swift 6.3 reads a field of a large value that `_read` has yielded after the access has ended, when the
    /// copy that was yielded is freed already. AddressSanitizer found it in a debug build.
    static func yieldedReads(in file: SwiftFile) -> [Violation] {
        file.violations(#/\b_read\s*\{/#) {
            "no _read: write get, which costs as little; what _read yields is read after it was freed"
        }
    }

    static func prints(in file: SwiftFile) -> [Violation] {
        file.violations(#/(?:^|[^\w.])(?:debugPrint|print|dump)\s*\(/#) {
            "no print: log a constant message with its facts as metadata"
        }
    }

    static func uncheckedIsolation(in file: SwiftFile) -> [Violation] {
        file.violations(#/@unchecked\s+Sendable|nonisolated\s*\(\s*unsafe\s*\)/#, unlessAbove: "// Safety:") {
            "say above in a '// Safety:' paragraph what makes this safe, or use Mutex or an actor"
        }
    }

    static func unstructuredTasks(in file: SwiftFile) -> [Violation] {
        file.violations(
            #/\bTask(?:\.detached|\.immediate)?\s*(?:<[^>]*>\s*)?(?:\([^)]*\)\s*)?\{/#,
            unlessAbove: "// Unstructured:"
        ) {
            "make it a child of run()'s task group, or give the reason above in '// Unstructured:'"
        }
    }

    /// A line that is little else than a piece of text may be longer: to break it would not make it clearer.
    static func longLines(in file: SwiftFile) -> [Violation] {
        file.lines.indices.filter { file.lines[$0].count > columnsMax && !file.isText($0) }.map { index in
            Violation(
                path: file.path, line: index + 1,
                advice: "\(file.lines[index].count) columns, \(columnsMax) are the limit: break the line")
        }
    }

    /// Text of any kind: Swift, schema, scripts, documents.
    static func leftovers(path: String, text: String) -> [Violation] {
        let marker = #/\b(?:TO[D]O|FIX[M]E|XX[X])\b/#
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { $1.contains(marker) }
            .map { index, _ in
                Violation(
                    path: path, line: index + 1,
                    advice: "finish it now, or open an issue and delete the marker")
            }
    }

    /// Markdown shows rows without titles as text, and leaves out the cells of a row that have no title.
    static func tables(path: String, text: String) -> [Violation] {
        var isCode = false
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> Substring? in
            let line = line.drop { $0 == " " }
            let isFence = line.hasPrefix("```") || line.hasPrefix("~~~")
            if isFence { isCode.toggle() }
            return line.hasPrefix("|") && !isCode && !isFence ? line : nil
        }
        let dashes = #/\|(?:\s*:?-+:?\s*\|)+\s*/#
        var violations: [Violation] = []
        var titles: Int?
        for (index, row) in rows.enumerated() {
            guard let row else {
                titles = nil
                continue
            }
            let cells = row.replacing(#/\\./#, with: "").count { $0 == "|" } - 1
            if let titles {
                guard cells != titles else { continue }
                let advice =
                    "\(cells) cells, and \(titles) titles: add what is missing, or write \\| for a bar"
                violations.append(Violation(path: path, line: index + 1, advice: advice))
            } else {
                titles = cells
                let next = index + 1 < rows.count ? rows[index + 1] : nil
                guard row.wholeMatch(of: dashes) != nil || next?.wholeMatch(of: dashes) == nil else {
                    continue
                }
                let advice = "a table begins with a row of titles and a line of dashes: add them"
                violations.append(Violation(path: path, line: index + 1, advice: advice))
            }
        }
        return violations
    }
}

extension SwiftFile {
    /// The lines with their comments and strings alone.
    var prose: [String] {
        zip(lines, code).map { line, code in
            line == code
                ? ""
                : String(
                    decoding: zip(line.utf8, code.utf8).map { $0 == $1 ? UInt8(ascii: " ") : $0 },
                    as: UTF8.self)
        }
    }

    /// How far above a line its reason may stand.
    static let reasonLinesMax = 6

    /// Whether a line is a string literal, or lies within one, with at most an operator beside it.
    func isText(_ index: Int) -> Bool {
        let isComment = lines[index].drop { $0 == " " }.hasPrefix("//")
        return !isComment && code[index].count { $0 != " " } <= 4
    }

    /// A finding for each line whose code matches, unless the reason stands on that line or closely above it.
    func violations<Output>(
        _ pattern: Regex<Output>, unlessAbove reason: String? = nil, advice: () -> String
    ) -> [Violation] {
        // By the default boundaries of Unicode "Task.sleep" is one word.
        let pattern = pattern.wordBoundaryKind(.simple)
        return code.indices.compactMap { index in
            guard code[index].contains(pattern) else { return nil }
            if let reason {
                let above = lines[max(0, index - Self.reasonLinesMax)...index]
                if above.contains(where: { $0.contains(reason) }) { return nil }
            }
            return Violation(path: path, line: index + 1, advice: advice())
        }
    }
}
