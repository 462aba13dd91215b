import RTMModel
import RTMProtocol
import Testing

@testable import RTMClient

/// What is judged without the server, and how a write looks on the wire.
struct MetadataWriteTests {
    private func write(
        _ kind: MetadataWrite.Kind = .set, _ items: [MetadataWrite.Item] = [.init(key: "k", value: "v")],
        of target: MetadataTarget = .channel("lobby"), _ options: MetadataWriteOptions = .init()
    ) -> MetadataWrite {
        MetadataWrite(kind: kind, target: target, items: items, options: options)
    }

    private func refusal(_ write: MetadataWrite) -> ErrorCode? {
        do throws(RTMError) {
            try write.check()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `D-14, L-4, L-1: targets that have no metadata are refused by their codes`() {
        #expect(refusal(write(of: .channel("lobby", type: .stream))) == nil)
        #expect(refusal(write(of: .channel("bob", type: .user))) == .invalidChannelType)
        #expect(refusal(write(of: .channel("lobby", type: .none))) == .invalidChannelType)
        #expect(refusal(write(of: .channel("a.b"))) == .invalidChannelName)
        #expect(refusal(write(of: .user("al*ce"))) == .invalidUserId)
        #expect(refusal(write(of: .ownUser)) == nil)
    }

    @Test func `D-12: no items and a key twice are refused, but the whole set can be removed`() {
        #expect(refusal(write(.set, [])) == .storageInvalidMetadataItem)
        #expect(refusal(write(.update, [])) == .storageInvalidMetadataItem)
        #expect(refusal(write(.remove, [])) == .storageInvalidMetadataItem)
        #expect(refusal(write(.removeAll, [])) == nil)
        let twice: [MetadataWrite.Item] = [.init(key: "a"), .init(key: "b"), .init(key: "a")]
        for kind in [MetadataWrite.Kind.set, .update, .remove] {
            #expect(refusal(write(kind, twice)) == .storageDuplicateKey)
        }
    }

    @Test func `L-13: keys have 1 to 32 printable characters`() {
        func key(_ key: String) -> ErrorCode? { refusal(write(.set, [.init(key: key, value: "v")])) }
        #expect(key(String(repeating: "k", count: 32)) == nil)
        #expect(key(String(repeating: "k", count: 33)) == .storageKeyLengthOverflow)
        #expect(key("") == .storageInvalidKey)
        #expect(key("é") == .storageInvalidKey)
    }

    @Test func `L-36, L-37, D-13: sizes are limited, a value may be empty, and a removal passes over values`()
    {
        func items(_ sizes: [Int]) -> [MetadataWrite.Item] {
            sizes.enumerated().map { .init(key: "k\($0)", value: String(repeating: "v", count: $1)) }
        }
        #expect(refusal(write(.set, items([0]))) == nil)
        #expect(refusal(write(.set, items([16_382]))) == nil)
        #expect(refusal(write(.set, items([16_383]))) == .storageMetadataLengthOverflow)
        #expect(refusal(write(.set, items([16_385]))) == .storageValueLengthOverflow)
        #expect(refusal(write(.update, items([8190, 8191]))) == .storageMetadataLengthOverflow)
        #expect(refusal(write(.remove, items([16_385]))) == nil)
        let error = #expect(throws: RTMError.self) { try write(.set, items([16_383])).check() }
        #expect(error?.limit == .init(name: "metadata set bytes", value: 16_384))
    }

    @Test(arguments: [Int64(0), 1, -1, -2, .min])
    func `D-8: revisions begin with 0, and what compares none has none`(revision: Int64) {
        let code: ErrorCode? = revision < 0 ? .storageInvalidRevision : nil
        #expect(refusal(write(.set, [.init(key: "k", value: "v", revision: revision)])) == code)
        #expect(refusal(write(.init(majorRevision: revision))) == code)
    }

    @Test
    func `D-20, D-22: a lock's name is checked and belongs to a channel, and a token belongs to a lock`() {
        #expect(refusal(write(.init(lock: "manage", fencingToken: 7))) == nil)
        #expect(refusal(write(.init(lock: ""))) == .storageInvalidLockName)
        #expect(refusal(write(.init(lock: String(repeating: "x", count: 65)))) == .storageInvalidLockName)
        #expect(refusal(write(of: .user("bob"), .init(lock: "manage"))) == .storageInvalidLockName)
        #expect(refusal(write(.init(fencingToken: 7))) == .storageInvalidArgument)
    }

    @Test func `A write has on the wire what the caller gave`() {
        let options = MetadataWriteOptions(
            majorRevision: 9, recordsTimestamp: true, recordsAuthor: true, lock: "manage", fencingToken: 7)
        let items: [MetadataWrite.Item] = [
            .init(key: "a", value: "1", revision: 4), .init(key: "b", value: ""),
            .init(key: "c", value: "3", revision: 0),
        ]
        let request = write(.update, items, of: .channel("lobby", type: .stream), options).request
        #expect(request.channelType == .stream && request.target == "lobby")
        #expect(request.kind == .metadataUpdate)
        #expect(request.items.map(\.key) == ["a", "b", "c"])
        #expect(request.items.map(\.value) == ["1", "", "3"])
        #expect(request.items.map(\.revision) == [4, 0, -1], "D-9: the item must not be there")
        #expect(request.majorRevision == 9 && request.recordTs && request.recordAuthor)
        #expect(request.lock == "manage" && request.fencingToken == 7)
        let plain = write(.removeAll, [], of: .user("bob")).request
        #expect(plain.channelType == .none && plain.target == "bob" && plain.kind == .metadataRemove)
        #expect(plain.majorRevision == 0 && plain.items.isEmpty && plain.lock.isEmpty)
        #expect(write(.init(majorRevision: 0)).request.majorRevision == -1, "nothing was ever written")
    }

    private func write(_ options: MetadataWriteOptions) -> MetadataWrite {
        write(.set, [.init(key: "k", value: "v")], of: .channel("lobby"), options)
    }
}

struct HistoryQueryTests {
    private func refusal(_ query: HistoryQuery) -> ErrorCode? {
        do throws(RTMError) {
            try query.check()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `L-43, H-5: impossible counts and bounds are refused`() {
        func query(_ count: Int = 100, _ start: UInt64? = nil, _ end: UInt64? = nil) -> HistoryQuery {
            HistoryQuery(source: .channel("lobby"), start: start, end: end, count: count)
        }
        for count in [1, 100] { #expect(refusal(query(count)) == nil) }
        for count in [0, 101, -1] { #expect(refusal(query(count)) == .invalidParameter) }
        #expect(refusal(query(1, 10, 11)) == .historyInvalidTimestamp)
        #expect(refusal(query(1, 11, 11)) == nil)
        #expect(refusal(query(1, nil, 11)) == nil)
        #expect(refusal(HistoryQuery(source: .channel("_a"), count: 1)) == .invalidChannelName)
        #expect(refusal(HistoryQuery(source: .user(""), count: 1)) == .invalidUserId)
    }
}
