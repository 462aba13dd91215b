import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMWire

/// Storage reads what SwiftProtobuf writes as a client's request, and SwiftProtobuf reads storage's answers.
@Suite("Requests to storage and its answers")
struct StorageRequestTests {
    private func read(_ body: Rtm_Client_ClientFrame.OneOf_Body) throws -> StorageRequest? {
        var frame = Rtm_Client_ClientFrame()
        frame.body = body
        let bytes: [UInt8] = try frame.serializedBytes()
        return try bytes.withUnsafeBytes { try StorageRequest(scanning: $0) }
    }

    private func answer(_ body: some ServerFrameBody) throws -> Rtm_Client_ServerFrame {
        try Rtm_Client_ServerFrame(serializedBytes: Array(body.field.readableBytesView))
    }

    @Test("a write of metadata with everything in it")
    func write() throws {
        let item = Rtm_Client_MetadataItem.with {
            $0.key = "k"
            $0.value = "wert ß"
            $0.revision = 7
        }
        let request = try read(
            .writeMetadata(
                .with {
                    $0.channelType = .stream
                    $0.target = "stage"
                    $0.kind = .metadataRemove
                    $0.items = [item, item]
                    $0.majorRevision = -3
                    $0.recordTs = true
                    $0.recordAuthor = true
                    $0.lock = "l"
                    $0.fencingToken = .max
                }))
        let expected = MetadataItem(key: "k", value: "wert ß", revision: 7)
        #expect(
            request
                == .writeMetadata(
                    WriteMetadata(
                        .remove, of: MetadataTarget(channelType: .stream, target: "stage"),
                        items: [expected, expected], majorRevision: -3, recordsTime: true,
                        recordsAuthor: true,
                        lock: "l", fencingToken: .max)))
    }

    private func storedChannel(_ body: Rtm_Client_ClientFrame.OneOf_Body) throws -> ChannelKey? {
        var frame = Rtm_Client_ClientFrame()
        frame.body = body
        let bytes: [UInt8] = try frame.serializedBytes()
        let caller = Caller(appID: "app", userID: "anna", session: SessionID(rawValue: 1))
        return bytes.withUnsafeBytes { CallRequest(caller: caller, request: WireText($0)).storedChannel }
    }

    @Test("the channel of every request is found where its type and name stand; no name is the caller's own")
    func channels() throws {
        let stage = ChannelKey(appID: "app", type: .stream, name: "stage")
        let item = Rtm_Client_MetadataItem.with { ($0.key, $0.value) = ("k", "v") }
        let bodies: [Rtm_Client_ClientFrame.OneOf_Body] = [
            .writeMetadata(.with { ($0.channelType, $0.target, $0.items) = (.stream, "stage", [item]) }),
            .getMetadata(.with { ($0.channelType, $0.target) = (.stream, "stage") }),
            .setLock(.with { ($0.channelType, $0.channel, $0.name) = (.stream, "stage", "l") }),
            .removeLock(.with { ($0.channelType, $0.channel, $0.name) = (.stream, "stage", "l") }),
            .acquireLock(.with { ($0.channelType, $0.channel, $0.name) = (.stream, "stage", "l") }),
            .releaseLock(.with { ($0.channelType, $0.channel, $0.name) = (.stream, "stage", "l") }),
            .revokeLock(.with { ($0.channelType, $0.channel, $0.name) = (.stream, "stage", "l") }),
            .getLocks(.with { ($0.channelType, $0.channel) = (.stream, "stage") }),
            .getHistory(.with { ($0.channelType, $0.channel) = (.stream, "stage") }),
        ]
        for body in bodies { #expect(try storedChannel(body) == stage, "\(body)") }
        let own = [
            try storedChannel(.getMetadata(.init())),
            try storedChannel(.getHistory(.with { $0.channelType = .user })),
            try storedChannel(.getMetadata(.with { $0.target = "ben" })),
        ]
        #expect(own.map { $0?.type } == [ChannelType.none, .user, ChannelType.none])
        #expect(own.map { $0?.name } == ["anna", "anna", "ben"])
        #expect(try storedChannel(.getLocks(.with { $0.channelType = .UNRECOGNIZED(99) })) == nil)
    }

    @Test("reads, and the five requests about locks")
    func others() throws {
        let place = LockPlace(channelType: .message, channel: "c")
        #expect(
            try read(.getMetadata(.with { $0.target = "u" }))
                == .getMetadata(MetadataTarget(channelType: ChannelType.none, target: "u")))
        #expect(
            try read(.getLocks(.with { ($0.channelType, $0.channel) = (.message, "c") })) == .getLocks(place))
        #expect(
            try read(
                .setLock(.with { ($0.channelType, $0.channel, $0.name, $0.ttlS) = (.message, "c", "n", 30) }))
                == .lock(LockRequest(.set(ttlSeconds: 30), "n", at: place)))
        #expect(
            try read(.removeLock(.with { ($0.channelType, $0.channel, $0.name) = (.message, "c", "n") }))
                == .lock(LockRequest(.remove, "n", at: place)))
        #expect(
            try read(
                .acquireLock(
                    .with {
                        ($0.channelType, $0.channel, $0.name) = (.message, "c", "n")
                        $0.retry = true
                        $0.heldToken = 9
                    })) == .lock(LockRequest(.acquire(retry: true, heldToken: 9), "n", at: place)))
        #expect(
            try read(.releaseLock(.with { ($0.channelType, $0.channel, $0.name) = (.message, "c", "n") }))
                == .lock(LockRequest(.release(withdraw: false), "n", at: place)))
        #expect(
            try read(
                .revokeLock(
                    .with { ($0.channelType, $0.channel, $0.name, $0.owner) = (.message, "c", "n", "anna") }))
                == .lock(LockRequest(.revoke(owner: "anna"), "n", at: place)))
        #expect(
            try read(
                .getHistory(
                    .with {
                        ($0.channelType, $0.channel, $0.count, $0.startMs, $0.endMs) = (.user, "u", 5, 9, 3)
                    }))
                == .getHistory(GetHistory(channelType: .user, channel: "u", count: 5, start: 9, end: 3)))
        #expect(try read(.whoNow(.init())) == nil)
    }

    @Test("bytes that are no request are refused, and never read beyond their end")
    func hostile() throws {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            var bytes = random.bytes(upTo: 40)
            if random.chance(1, in: 2) { bytes = [0xF2, 0x01, UInt8(bytes.count)] + bytes }
            _ = try? bytes.withUnsafeBytes { try StorageRequest(scanning: $0) }
        }
        let nul: [UInt8] = [0xF2, 0x01, 3, 0x12, 1, 0]
        for bytes in [[], [0xF2, 0x01, 5], nul] {
            #expect(throws: bytes == nul ? WireError.textWithNul : .undecodable) {
                try bytes.withUnsafeBytes { _ = try StorageRequest(scanning: $0) }
            }
        }
    }

    @Test("answers and events follow the schema")
    func answers() throws {
        let item = MetadataItem(key: "k", value: "v", revision: 3, updatedMilliseconds: 4, author: "anna")
        let channel = ChannelKey(appID: "app", type: .message, name: "c")
        let metadata = try answer(Metadata(channel, majorRevision: 5, items: [item])).metadata
        #expect(metadata.channelType == .message && metadata.target == "c" && metadata.majorRevision == 5)
        #expect(
            metadata.items.count == 1 && metadata.items[0].author == "anna"
                && metadata.items[0].updateTsMs == 4)
        #expect(try answer(MetadataWritten(majorRevision: 8)).metadataWritten.majorRevision == 8)
        #expect(try answer(LockAcquired(fencingToken: 9)).lockAcquired.fencingToken == 9)
        let lock = LockDetail(name: "l", owner: "anna", ttlSeconds: 10, fencingToken: 2)
        let locks = try answer(Locks(channel, revision: 6, locks: [lock])).locks
        #expect(locks.revision == 6 && locks.locks.map(\.owner) == ["anna"] && locks.locks[0].ttlS == 10)
        let message = HistoryMessage(
            type: .text, payload: [1, 2], customType: "x", publisher: "ben", timestampMilliseconds: 77)
        let page = try answer(HistoryPage(messages: [message], newStart: 78)).historyPage
        #expect(page.newStartMs == 78 && page.messages[0].timestampMs == 77 && page.messages[0].type == .text)
        let stored = StorageEvent(majorRevision: 4, items: [item]).eventField
        let publication = try Rtm_Client_Publication(serializedBytes: Array(stored.readableBytesView))
        #expect(publication.storage.majorRevision == 4 && publication.storage.items[0].value == "v")
        let event = LockEvent(.released, lock, revision: 11).eventField
        let other = try Rtm_Client_Publication(serializedBytes: Array(event.readableBytesView))
        #expect(
            other.lock.type == .lockEventReleased && other.lock.revision == 11 && other.lock.lock.name == "l")
    }
}
