// Histories of a whole installation under a virtual clock (Tests/README.md, Simulation).

import Foundation
import Testing

@Suite("Simulated histories of an installation")
struct SimulationTests {
    /// What every test run looks at. CI adds the commit's number (SEED), `make soak` very many.
    static let seeds: [UInt64] = Array(1...10) + [2260, 5082]

    @Test("the promises of architecture section 6 hold", arguments: seeds)
    func promises(seed: UInt64) {
        let result = Simulation.run(seed: seed)
        #expect(result.findings.isEmpty, "\(result.report)")
        // A history in which nothing happens shows nothing.
        #expect(result.entries.count > 500, "seed \(seed)")
    }

    @Test(
        "the promises of presence hold",
        arguments: Array(1...7) + [21, 90, 5003, 6090, 100_784, 110_390_640_074_333] as [UInt64])
    func presence(seed: UInt64) {
        let result = Simulation.run(seed: seed, scene: .presence)
        #expect(result.findings.isEmpty, "\(result.report)")
        #expect(result.entries.count > 300, "seed \(seed)")
    }

    @Test(
        "the promises hold while messaging nodes and their Redis fail",
        arguments: [1, 8, 12] as [UInt64])
    func nodes(seed: UInt64) {
        let result = Simulation.run(seed: seed, scene: .nodes)
        #expect(result.findings.isEmpty, "\(result.report)")
        #expect(result.entries.count > 500, "seed \(seed)")
    }

    @Test("N-5: the promises hold for apps with a second path", arguments: Array(1...4) + [1004] as [UInt64])
    func paths(seed: UInt64) {
        let result = Simulation.run(seed: seed, scene: .paths)
        #expect(result.findings.isEmpty, "\(result.report)")
        #expect(result.entries.count > 500, "seed \(seed)")
    }

    @Test("the promises of stream channels and topics hold", arguments: Array(1...4) + [50018] as [UInt64])
    func streams(seed: UInt64) {
        let result = Simulation.run(seed: seed, scene: .streams)
        #expect(result.findings.isEmpty, "\(result.report)")
        #expect(result.entries.count > 200, "seed \(seed)")
    }

    @Test(
        "S-17, S-20, C-14: the promises hold for apps that are away for two minutes while servers end",
        arguments: Array(1...6) as [UInt64])
    func absences(seed: UInt64) {
        let result = Simulation.run(seed: seed, scene: .absences)
        #expect(result.findings.isEmpty, "\(result.report)")
        #expect(result.entries.count > 300, "seed \(seed)")
    }

    @Test(
        "W-40 to W-44, W-50 to W-52: the promises of events and webhooks hold",
        arguments: Array(1...4) as [UInt64])
    func webhooks(seed: UInt64) {
        let result = Simulation.run(seed: seed, scene: .webhooks)
        #expect(result.findings.isEmpty, "\(result.report)")
        #expect(result.entries.count > 500, "seed \(seed)")
    }

    /// One seed by itself, as a failure names it, in all scenes unless one is asked for.
    @Test("a chosen seed", .enabled(if: !environment("SEED").isEmpty, "make soak SEED=1"))
    func chosen() throws {
        let seed = try #require(Self.environment("SEED").first)
        var trace = ""
        for scene in Self.scenes {
            let result = Simulation.run(seed: seed, scene: scene)
            trace += "\(scene), seed \(seed)\n" + result.entries.map { "\($0)\n" }.joined()
            #expect(result.findings.isEmpty, "\(result.report)")
        }
        if let path = ProcessInfo.processInfo.environment["TRACE"], !path.isEmpty {
            try trace.write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    @Test("the same seed is the same history", arguments: [Scene.messages, .webhooks])
    func reproducible(scene: Scene) {
        let first = Simulation.run(seed: 4, scene: scene)
        let second = Simulation.run(seed: 4, scene: scene)
        let difference = zip(first.entries, second.entries).first { "\($0)" != "\($1)" }
        #expect(first.hash == second.hash, "\(difference.map { "\($0) and \($1)" } ?? "one is longer")")
        #expect(Simulation.run(seed: 5, scene: scene).hash != first.hash)
    }

    @Test("soak", .enabled(if: !environment("SEEDS").isEmpty, "make soak SEEDS=1000"))
    func soak() throws {
        let count = try #require(Self.environment("SEEDS").first)
        let first = Self.environment("FIRST").first ?? 1_000
        for seed in first..<first + count {
            for scene in Self.scenes {
                let result = Simulation.run(seed: seed, scene: scene)
                #expect(result.findings.isEmpty, "\(result.report)")
            }
        }
    }

    /// All, unless one is asked for.
    private static var scenes: [Scene] {
        Scene(rawValue: ProcessInfo.processInfo.environment["SCENE"] ?? "").map { [$0] }
            ?? [.messages, .presence, .nodes, .paths, .streams, .absences, .webhooks]
    }

    /// A number, or a commit's hash, of which the first digits count.
    private static func environment(_ name: String) -> [UInt64] {
        guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return [] }
        return [UInt64(text) ?? UInt64(text.prefix(12), radix: 16) ?? 0]
    }
}
