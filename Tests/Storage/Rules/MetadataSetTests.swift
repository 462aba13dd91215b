import RTMModel
import RTMWire
import Testing

@testable import RTMStorageServer

@Suite("A metadata set")
struct MetadataSetTests {
    private func write(
        _ kind: MetadataWriteKind, _ items: [(String, String)], major: Int64 = 0, revisions: [Int64] = [],
        time: Bool = false, author: Bool = false
    ) -> WriteMetadata {
        let items = items.enumerated().map { index, item in
            MetadataItem(
                key: item.0, value: item.1, revision: index < revisions.count ? revisions[index] : 0)
        }
        return WriteMetadata(
            kind, of: .lobby, items: items, majorRevision: major, recordsTime: time, recordsAuthor: author)
    }

    private func apply(
        _ write: WriteMetadata, to set: inout MetadataSet, limits: MetadataSet.Limits = .init()
    ) throws -> MetadataSet.Change {
        try write.check()
        return try set.apply(write, by: "anna", limits: limits, now: 1234)
    }

    @Test("D-2, D-31: set creates and overwrites, others stay, the order is that of creation")
    func set() throws {
        var set = MetadataSet()
        _ = try apply(write(.set, [("b", "1"), ("a", "2")]), to: &set)
        let change = try apply(write(.set, [("c", "3"), ("b", "4")]), to: &set)
        #expect(set.items.map(\.key) == ["b", "a", "c"])
        #expect(set.items.map(\.value) == ["4", "2", "3"])
        #expect(Set(change.entries.keys) == ["c", "b"] && !change.entries.values.contains(nil))
    }

    @Test("D-10: every write takes one number above all before, also when everything is removed")
    func revisions() throws {
        var set = MetadataSet()
        #expect(set.majorRevision == 0)
        _ = try apply(write(.set, [("a", "1"), ("b", "1")]), to: &set)
        #expect(set.majorRevision == 1 && set.items.map(\.revision) == [1, 1])
        _ = try apply(write(.update, [("b", "2")]), to: &set)
        #expect(set.majorRevision == 2 && set.items.map(\.revision) == [1, 2])
        _ = try apply(write(.remove, []), to: &set)
        #expect(set.majorRevision == 3 && set.items.isEmpty)
        _ = try apply(write(.set, [("a", "1")]), to: &set)
        #expect(set.majorRevision == 4 && set.items.map(\.revision) == [4])
    }

    @Test("D-3, D-4, D-9: what must exist and doesn't is a conflict that names it")
    func missing() throws {
        var set = MetadataSet()
        for (kind, items, revisions) in [
            (.update, [("a", "1")], []), (.remove, [("a", "")], []), (.remove, [], []),
            (.set, [("a", "1")], [5]),
        ] as [(MetadataWriteKind, [(String, String)], [Int64])] {
            let error = refusal { try apply(write(kind, items, revisions: revisions), to: &set) }
            #expect(error?.code == .storageOutdatedRevision)
            #expect(error?.conflict == .init(majorRevision: 0, key: items.isEmpty ? nil : "a", revision: 0))
        }
        #expect(
            refusal { try apply(write(.set, [("a", "1")], major: 3), to: &set) }?.code
                == .storageOutdatedRevision)
        #expect(set == MetadataSet())
    }

    @Test(
        "D-5, D-6: the set's revision is compared first, then the items', and the conflict says what is there"
    )
    func conflict() throws {
        var set = MetadataSet()
        _ = try apply(write(.set, [("a", "1")]), to: &set)
        _ = try apply(write(.set, [("b", "1")]), to: &set)
        let both = refusal { try apply(write(.set, [("a", "2")], major: 1, revisions: [7]), to: &set) }
        #expect(both?.conflict == .init(majorRevision: 2))
        let item = refusal {
            try apply(write(.set, [("b", "2"), ("a", "2")], major: 2, revisions: [2, 7]), to: &set)
        }
        #expect(item?.conflict == .init(majorRevision: 2, key: "a", revision: 1))
        #expect(set.items.map(\.value) == ["1", "1"], "D-7: nothing was written")
        _ = try apply(write(.set, [("a", "2")], major: 2, revisions: [1]), to: &set)
        #expect(set.majorRevision == 3)
    }

    @Test("-1 asks for a set that was never written: of two who create it one wins")
    func creation() throws {
        var set = MetadataSet()
        _ = try apply(write(.set, [("a", "1")], major: -1), to: &set)
        let second = refusal { try apply(write(.set, [("a", "2")], major: -1), to: &set) }
        #expect(second?.conflict == .init(majorRevision: 1))
        _ = try apply(write(.remove, []), to: &set)
        let third = refusal { try apply(write(.set, [("a", "3")], major: -1), to: &set) }
        #expect(third?.conflict == .init(majorRevision: 2), "D-10: what was removed was written once")
    }

    @Test("D-9: an item that isn't there has the revision 0: of two who create it one wins")
    func itemCreation() throws {
        var set = MetadataSet()
        _ = try apply(write(.set, [("a", "1"), ("b", "1")], revisions: [-1, -1]), to: &set)
        let second = refusal {
            try apply(write(.set, [("c", "2"), ("a", "2")], revisions: [-1, -1]), to: &set)
        }
        #expect(second?.code == .storageOutdatedRevision)
        #expect(second?.conflict == .init(majorRevision: 1, key: "a", revision: 1))
        #expect(second?.reason == "\"a\" has the revision 1, not 0")
        _ = try apply(write(.remove, [("a", "")]), to: &set)
        _ = try apply(write(.set, [("a", "3")], revisions: [-1]), to: &set)
        #expect(set.items.map(\.revision) == [1, 3], "what was removed isn't there")
        for kind in [MetadataWriteKind.update, .remove] {
            let missing = refusal { try apply(write(kind, [("z", "1")], revisions: [-1]), to: &set) }
            #expect(missing?.conflict == .init(majorRevision: 3, key: "z", revision: 0), "D-3, D-4")
        }
    }

    @Test("D-11: time and author are recorded when asked for, and reset by a write that doesn't ask")
    func record() throws {
        var set = MetadataSet()
        _ = try apply(write(.set, [("a", "1")], time: true, author: true), to: &set)
        #expect(set.items[0].updatedMilliseconds == 1234 && set.items[0].author == "anna")
        _ = try apply(write(.update, [("a", "1")]), to: &set)
        #expect(set.items[0].updatedMilliseconds == 0 && set.items[0].author.isEmpty)
    }

    @Test("D-8, D-12, D-13, D-22: what can't be right is refused with its own code")
    func malformed() {
        var set = MetadataSet()
        let key33 = String(repeating: "k", count: 33)
        let large = String(repeating: "v", count: 16 * 1024 + 1)
        let cases: [(WriteMetadata, ErrorCode)] = [
            (write(.set, [("a", "1")], major: -2), .storageInvalidRevision),
            (write(.set, [("a", "1")], revisions: [-2]), .storageInvalidRevision),
            (write(.set, []), .storageInvalidMetadataItem), (write(.update, []), .storageInvalidMetadataItem),
            (write(.set, [("a", "1"), ("a", "2")]), .storageDuplicateKey),
            (write(.set, [("", "1")]), .storageInvalidKey), (write(.set, [("ä", "1")]), .storageInvalidKey),
            (write(.set, [(key33, "1")]), .storageKeyLengthOverflow),
            (write(.set, [("a", large)]), .storageValueLengthOverflow),
        ]
        for (write, code) in cases {
            #expect(refusal { try apply(write, to: &set) }?.code == code)
        }
        var named = write(.set, [("a", "1")])
        named.lock = String(repeating: "l", count: 65)
        #expect(refusal { try named.check() }?.code == .storageInvalidLockName, "L-12")
        named.lock = "l"
        named.target.channelType = ChannelType.none
        #expect(refusal { try named.check() }?.code == .storageInvalidLockName, "D-22")
    }

    @Test("L-37: a set of exactly 16 KiB fits, one byte more doesn't and changes nothing")
    func size() throws {
        var set = MetadataSet()
        _ = try apply(write(.set, [("ab", String(repeating: "v", count: 16 * 1024 - 5))]), to: &set)
        let tooLarge = refusal { try apply(write(.set, [("cd", "12")]), to: &set) }
        #expect(tooLarge?.code == .storageMetadataLengthOverflow && tooLarge?.limit?.value == 16_384)
        _ = try apply(write(.set, [("cd", "1")]), to: &set)
        #expect(set.bytes == 16_384 && set.majorRevision == 2)
    }

    @Test("L-35: an operator may cap the items")
    func items() throws {
        var set = MetadataSet()
        let limits = MetadataSet.Limits(itemsMax: 2)
        _ = try apply(write(.set, [("a", ""), ("b", "")]), to: &set, limits: limits)
        let more = refusal { try apply(write(.set, [("c", "")]), to: &set, limits: limits) }
        #expect(more?.code == .storageMetadataItemExceedLimitation)
        // A set that is too large since the cap was lowered can be reduced bit by bit.
        let lower = MetadataSet.Limits(itemsMax: 0, bytesMax: 1)
        _ = try apply(write(.update, [("a", "")]), to: &set, limits: lower)
        _ = try apply(write(.remove, [("b", "")]), to: &set, limits: lower)
        #expect(set.items.map(\.key) == ["a"])
        let longer = refusal { try apply(write(.update, [("a", "longer")]), to: &set, limits: lower) }
        #expect(longer?.code == .storageMetadataLengthOverflow)
    }

    @Test("D-14: a user channel has no metadata of its own; D-16: no user id means the caller")
    func target() throws {
        let anna = Caller.user("anna")
        let inbox = MetadataTarget(channelType: .user, target: "anna")
        #expect(refusal { try inbox.key(of: anna) }?.code == .invalidChannelType)
        #expect(try MetadataTarget(channelType: ChannelType.none, target: "").key(of: anna) == .user("anna"))
        #expect(
            try MetadataTarget(channelType: ChannelType.none, target: "ben").key(of: anna) == .user("ben"))
    }
}
