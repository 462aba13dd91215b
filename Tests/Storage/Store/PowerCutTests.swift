import Foundation
import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// Generated histories of groups of writes run on a disk that loses its power at any of their steps, in each
/// life of the store again. What is found afterwards is compared with what the store held after each group.
@Suite("Power cuts")
struct PowerCutTests {
    @Test(
        "with synchronous full every acknowledged group is there, whole, and the one under way whole or not",
        arguments: 0..<40)
    func full(_ seed: UInt64) async throws {
        let lost = try await lives(seed, .full)
        #expect(lost == 0)
    }

    @Test("with synchronous normal the last groups may be gone, from the end, and nothing by half")
    func normal() async throws {
        var lost = 0
        for seed in 0..<20 as Range<UInt64> { lost += try await lives(seed, .normal) }
        // This shows that the disk does lose what wasn't synced.
        #expect(lost > 0)
    }

    /// Returns how many acknowledged groups were lost.
    private func lives(_ seed: UInt64, _ synchronous: Synchronous) async throws -> Int {
        var history = PowerCutHistory(seed: seed, synchronous: synchronous)
        return try await withDirectory { directory in
            var lost = 0
            for life in 0..<4 {
                let path = directory + "/life-\(life)"
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                lost += try history.live(at: path, next: directory + "/life-\(life + 1)")
            }
            return lost
        }
    }
}

/// The lives of a store, each ended by a power cut.
private struct PowerCutHistory {
    private static let now = StorageNow(wall: 1_000_000, steady: 1_000)

    private let seed: UInt64
    private let synchronous: Synchronous
    private var random: SeededGenerator
    private var writes: GeneratedWrites
    /// The files that the last life left; nil before the first.
    private var left: StoreContents?

    init(seed: UInt64, synchronous: Synchronous) {
        self.seed = seed
        self.synchronous = synchronous
        random = SeededGenerator(seed: seed)
        writes = GeneratedWrites(seed: seed)
    }

    /// Writes until the power is cut, and leaves the disk's content of that moment in `next`. Returns how
    /// many acknowledged groups are missing there.
    mutating func live(at directory: String, next: String) throws -> Int {
        let disk = try #require(
            PowerCutDisk(cutAt: .random(in: 1...400, using: &random), seed: random.next()))
        var options = SQLiteOptions(path: directory + "/storage.db", synchronous: synchronous)
        options.checkpointPages = 12
        if left == nil { try SQLiteWriter(options).close() }
        options.fileSystem = disk.name
        let store = try SQLiteWriter(options)
        let reader = try SQLiteReader(options)
        var writer = try StorageWriter(store, rules: StorageRules(), now: Self.now)
        // The state at the start, and the state after each group.
        var states = [try StoreContents(reader)]
        if let left { #expect(states == [left], "seed \(seed): reading has changed it") }
        var acknowledged = 0
        while disk.remains == nil {
            let outcome = writer.run(writes.group(states[states.count - 1]), now: Self.now)
            try #require(outcome.failure == nil)
            states.append(try StoreContents(reader))
            if disk.remains == nil { acknowledged = states.count - 1 }
        }
        reader.close()
        writer.close()
        return try check(states, acknowledged, disk.remains ?? [:], in: next)
    }

    private mutating func check(
        _ states: [StoreContents], _ acknowledged: Int, _ remains: [String: [UInt8]], in next: String
    ) throws -> Int {
        try leave(remains, in: next)
        let path = next + "/storage.db"
        let store = try SQLiteWriter(SQLiteOptions(path: path))
        let reader = try SQLiteReader(SQLiteOptions(path: path))
        let found = try StoreContents(reader)
        #expect(try SQLiteMaintenance.check(path) == [])
        reader.close()
        store.close()
        // The next life finds what the cut has left, and not what this check has made of it.
        try leave(remains, in: next)
        left = found
        let state = try #require(states.lastIndex(of: found), "seed \(seed): such a state has never been")
        #expect(state <= acknowledged + 1)
        return max(0, acknowledged - state)
    }

    private func leave(_ remains: [String: [UInt8]], in directory: String) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for (path, bytes) in remains {
            let name = URL(fileURLWithPath: path).lastPathComponent
            try Data(bytes).write(to: URL(fileURLWithPath: directory + "/" + name))
        }
    }
}
