import RTMModel
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// Generated writes are compared with a model that is as simple as the rules.
@Suite("Metadata against a naive model")
struct MetadataModelTests {
    /// The set as a list, changed one item at a time on a copy.
    private struct Model {
        var major: Int64 = 0
        var items: [MetadataItem] = []

        mutating func apply(_ write: WriteMetadata, bytesMax: Int) -> ErrorCode? {
            if write.majorRevision != 0 && write.majorRevision != major { return .storageOutdatedRevision }
            if write.kind == .remove && write.items.isEmpty && items.isEmpty {
                return .storageOutdatedRevision
            }
            var copy = self
            copy.major += 1
            if write.kind == .remove && write.items.isEmpty { copy.items = [] }
            for item in write.items {
                let place = items.firstIndex { $0.key == item.key }
                if let place, item.revision != 0, items[place].revision != item.revision {
                    return .storageOutdatedRevision
                }
                if place == nil && (write.kind != .set || item.revision != 0) {
                    return .storageOutdatedRevision
                }
                copy.items.removeAll { write.kind == .remove && $0.key == item.key }
                guard write.kind != .remove else { continue }
                let fresh = MetadataItem(
                    key: item.key, value: item.value, revision: copy.major,
                    updatedMilliseconds: write.recordsTime ? 5 : 0, author: write.recordsAuthor ? "me" : "")
                if let place { copy.items[place] = fresh } else { copy.items.append(fresh) }
            }
            let bytes = copy.items.map { $0.key.utf8.count + $0.value.utf8.count }.reduce(0, +)
            if bytes > bytesMax { return .storageMetadataLengthOverflow }
            self = copy
            return nil
        }
    }

    @Test("D-1 to D-11: a thousand histories of writes end like the model's", arguments: 0..<10)
    func histories(_ seed: UInt64) throws {
        for round in 0..<100 as Range<UInt64> {
            var random = SeededGenerator(seed: seed * 1000 + round)
            var set = MetadataSet()
            var model = Model()
            for step in 0..<60 {
                let write = Self.write(&random, near: model.major)
                let expected = model.apply(write, bytesMax: 40)
                let error = refusal {
                    try set.apply(write, by: "me", limits: .init(bytesMax: 40), now: 5)
                }
                #expect(error?.code == expected, "seed \(seed), round \(round), step \(step)")
                #expect(set.items == model.items && set.majorRevision == model.major)
            }
        }
    }

    private static func write(_ random: inout SeededGenerator, near major: Int64) -> WriteMetadata {
        var keys = ["a", "b", "c", "d", "e"].shuffled(using: &random)
        keys.removeLast(Int.random(in: 0...4, using: &random))
        let kind = MetadataWriteKind.allCases.randomElement(using: &random) ?? .set
        if kind == .remove, random.chance(1, in: 6) { keys = [] }
        let items = keys.map { key in
            MetadataItem(
                key: key, value: String(repeating: "v", count: Int.random(in: 0...9, using: &random)),
                revision: random.chance(1, in: 4)
                    ? max(0, major - Int64.random(in: 0...2, using: &random)) : 0)
        }
        return WriteMetadata(
            kind, of: .lobby, items: items,
            majorRevision: random.chance(1, in: 4)
                ? max(0, major - Int64.random(in: 0...1, using: &random)) : 0,
            recordsTime: random.chance(1, in: 2), recordsAuthor: random.chance(1, in: 2))
    }
}
