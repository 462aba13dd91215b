import RTMLedger

/// What an app uses of the vendor's SDK, and what of it differs here.
struct MigrationReport {
    struct Place: Hashable {
        let path: String
        let line: Int
    }

    let files: Int
    let filesWithSDK: Int
    let objectiveC: [String]
    /// In the order of the ledger's marks, then by name.
    private(set) var uses: [(found: LedgerIndex.Found, places: [Place])] = []
    /// Names like those of the SDK that this library doesn't have.
    private(set) var unknown: [(name: String, places: [Place])] = []
    private(set) var types: Set<String> = []
    private let namesServers: Bool

    init(_ sources: AppSources, _ ledger: Ledger) {
        let index = LedgerIndex(ledger)
        let read = sources.swift.map { (path: $0.path, uses: SwiftWords($0.text).uses) }
        let withSDK = read.filter { file in file.uses.contains { $0.name.hasPrefix("AgoraRtm") } }
        files = read.count
        filesWithSDK = withSDK.count
        objectiveC = sources.objectiveC
        let named = Set(withSDK.flatMap { $0.uses.map(\.name) }).intersection(index.types)
        types = named
        namesServers = withSDK.contains { $0.uses.contains { $0.name == "accessPointHosts" } }
        var found: [LedgerIndex.Found: [Place]] = [:]
        var unknown: [String: [Place]] = [:]
        for file in withSDK {
            for use in file.uses {
                let place = Place(path: file.path, line: use.line)
                if let member = index.member(use, named: named) { found[member, default: []].append(place) }
                guard use.name.hasPrefix("AgoraRtm"), use.name != "AgoraRtmKit",
                    !index.types.contains(use.name)
                else { continue }
                unknown[use.name, default: []].append(place)
            }
        }
        uses = found.map { ($0.key, $0.value) }.sorted { $0.found.name < $1.found.name }
        self.unknown = unknown.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    func uses(_ marks: Ledger.Mark...) -> [(found: LedgerIndex.Found, places: [Place])] {
        uses.filter { marks.contains($0.found.member.mark) }
    }

    /// Types that are named and all of whose used members are as the vendor documents them.
    var unchangedCount: Int { uses(.same, .choice, .addition).count }

    // MARK: For a person

    func text(showsAll: Bool) -> String {
        guard filesWithSDK > 0 || !objectiveC.isEmpty else {
            return "\(Self.count(files, "Swift file")), and none uses AgoraRtmKit."
        }
        var lines = [
            "\(filesWithSDK) of \(Self.count(files, "Swift file")) \(filesWithSDK == 1 ? "uses" : "use") "
                + "AgoraRtmKit: "
                + "\(Self.count(types.count, "type")) and \(Self.count(uses.count, "member"))."
        ]
        lines += steps.isEmpty ? [] : ["", "To do"] + steps.map { "  - \($0)" }
        lines += section("Not here", unknown.map { ($0.name, nil, $0.places) })
        lines += section("Differs", uses(.differs))
        lines += section("Has no effect", uses(.idle))
        lines += section("Deprecated, and works", uses(.earlier))
        if showsAll {
            lines += section("Our choice where the vendor's documents disagree or are silent", uses(.choice))
            lines += section("Works unchanged", uses(.same, .addition))
        }
        lines += [
            "",
            "\(Self.count(unchangedCount, "member")) \(unchangedCount == 1 ? "works" : "work") unchanged"
                + (showsAll ? "." : " (--all lists them)."),
        ]
        return lines.joined(separator: "\n")
    }

    /// What every app has to do, as far as this one hasn't done it.
    private var steps: [String] {
        var steps: [String] = []
        if !namesServers {
            steps.append(
                "Set privateConfig.serviceType = [.message], and privateConfig.accessPointHosts to your "
                    + "edges: there is no server that all apps share (N-2).")
        }
        if !objectiveC.isEmpty {
            steps.append(
                "The library has no headers for Objective-C. These files need a class in Swift between: "
                    + objectiveC.joined(separator: ", "))
        }
        return steps
    }

    private func section(_ title: String, _ uses: [(found: LedgerIndex.Found, places: [Place])]) -> [String] {
        section(title, uses.map { ($0.found.name, $0.found.member.text, $0.places) })
    }

    private func section(_ title: String, _ entries: [(String, String?, [Place])]) -> [String] {
        guard !entries.isEmpty else { return [] }
        return ["", title]
            + entries.flatMap { name, text, places in
                ["  \(name)"] + (text.map { ["    \($0)"] } ?? []) + ["    " + Self.list(places)]
            }
    }

    private static func list(_ places: [Place]) -> String {
        let shown = places.prefix(3).map { "\($0.path):\($0.line)" }.joined(separator: ", ")
        return places.count > 3 ? shown + " and \(places.count - 3) more" : shown
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    // MARK: For a program

    var json: JSON {
        [
            "files": .number(files), "filesWithSDK": .number(filesWithSDK),
            "objectiveC": .strings(objectiveC), "types": .strings(types.sorted()),
            "unknown": .array(
                unknown.map { ["name": .string($0.name), "places": Self.places($0.places)] }),
            "members": .array(
                uses.map { use in
                    let word = use.found.member.mark.word
                    return [
                        "name": .string(use.found.name),
                        "how": .string(word.isEmpty ? "as documented" : word),
                        "text": .string(use.found.member.text), "places": Self.places(use.places),
                    ]
                }),
        ]
    }

    private static func places(_ places: [Place]) -> JSON { .strings(places.map { "\($0.path):\($0.line)" }) }
}
