import RTMClient
import RTMModel
import RTMTestSupport
import Testing

@testable import AgoraRtmKit

/// Storage, locks and history of the compatible API, without a server.
@Suite("Storage, lock and history objects", .ends(withinMinutes: 1))
struct StorageKitTests {
    typealias Result = (AgoraRtmCommonResponse?, AgoraRtmErrorInfo?)

    private func makeKit() throws -> AgoraRtmClientKit {
        try AgoraRtmClientKit(.local(), delegate: nil)
    }

    private static func metadata(_ items: [AgoraRtmMetadataItem]?, majorRevision: Int64 = -1)
        -> AgoraRtmMetadata
    {
        let metadata = AgoraRtmMetadata()
        metadata.items = items
        metadata.majorRevision = majorRevision
        return metadata
    }

    private static func block(_ begin: (@escaping AgoraRtmOperationBlock) -> Void) async -> Result {
        await withCheckedContinuation { continuation in
            begin { continuation.resume(returning: ($0, $1)) }
        }
    }

    // MARK: Calls

    private static let item = AgoraRtmMetadataItem(key: "k", value: "v")

    /// Every call that writes, by object and directly on the client, in both forms.
    private static let calls: [(name: String, call: @Sendable (AgoraRtmClientKit) async -> [Result])] = [
        (
            "setChannelMetadata",
            { kit in
                let data = metadata([item])
                let storage = kit.getStorage()
                return [
                    await kit.setChannelMetadata(
                        channelName: "c", channelType: .message, data: data, options: nil, lock: nil),
                    await block {
                        kit.setChannelMetadata(
                            channelName: "c", channelType: .message, data: data, options: nil, lock: nil,
                            completion: $0)
                    },
                    await storage!.setChannelMetadata(
                        channelName: "c", channelType: .stream, data: data, options: nil, lock: "l"),
                    await block {
                        storage?.setChannelMetadata(
                            channelName: "c", channelType: .message, data: data, options: nil, lock: "",
                            completion: $0)
                    },
                ]
            }
        ),
        (
            "removeUserMetadata",
            { kit in
                let data = metadata(nil)
                return [
                    await kit.removeUserMetadata(userId: "", data: data, options: nil),
                    await block {
                        kit.getStorage()?.removeUserMetadata(
                            userId: "bob", data: data, options: nil, completion: $0)
                    },
                ]
            }
        ),
        (
            "subscribeUserMetadata",
            { kit in
                [
                    await kit.subscribeUserMetadata(userId: "bob"),
                    await block { kit.getStorage()?.subscribeUserMetadata(userId: "bob", completion: $0) },
                ]
            }
        ),
        (
            "acquireLock",
            { kit in
                [
                    await kit.acquireLock(
                        channelName: "c", channelType: .message, lockName: "l", retry: false),
                    await block {
                        kit.getLock()?.acquireLock(
                            channelName: "c", channelType: .message, lockName: "l", retry: true,
                            completion: $0)
                    },
                ]
            }
        ),
        (
            "revokeLock",
            { kit in
                [
                    await kit.revokeLock(
                        channelName: "c", channelType: .message, lockName: "l", userId: "bob"),
                    await block {
                        kit.getLock()?.revokeLock(
                            channelName: "c", channelType: .message, lockName: "l", userId: "bob",
                            completion: $0)
                    },
                ]
            }
        ),
    ]

    @Test("before login every call fails with -10002 and its own name, in both forms", arguments: 0..<5)
    func beforeLogin(number: Int) async throws {
        let (name, call) = Self.calls[number]
        for (response, error) in await call(try makeKit()) {
            #expect(response == nil)
            #expect(error?.errorCode == .notLogin && error?.operation == name)
        }
    }

    @Test("after destroy every call fails with -10018, also on objects from before (S-9)", arguments: 0..<5)
    func afterDestroy(number: Int) async throws {
        let (name, call) = Self.calls[number]
        let kit = try makeKit()
        kit.destroy()
        for (_, error) in await call(kit) {
            #expect(error?.errorCode == .instanceAlreadyReleased && error?.operation == name)
        }
        #expect(await kit.getUserMetadata(userId: "").1?.errorCode == .instanceAlreadyReleased)
        #expect(
            await kit.getLocks(channelName: "c", channelType: .message).1?.errorCode
                == .instanceAlreadyReleased)
        let messages = await kit.getHistory()!.getMessages(
            channelName: "c", channelType: .message, options: nil)
        #expect(messages.1?.errorCode == .instanceAlreadyReleased && messages.1?.operation == "getMessages")
    }

    // MARK: Arguments

    private static let revisionCases: [(Int64, AgoraRtmErrorCode)] = [
        (-1, .notLogin), (7, .notLogin), (0, .notLogin), (-2, .storageInvalidRevision),
        (.min, .storageInvalidRevision),
    ]

    @Test("a revision below -1 is refused (D-8)", arguments: revisionCases)
    func revisions(revision: Int64, code: AgoraRtmErrorCode) async throws {
        let kit = try makeKit()
        let ofItem = Self.metadata([AgoraRtmMetadataItem(key: "k", value: "v", revision: revision)])
        let ofSet = Self.metadata([Self.item], majorRevision: revision)
        for data in [ofItem, ofSet] {
            let error = await kit.setUserMetadata(userId: "", data: data, options: nil).1
            #expect(error?.errorCode == code)
        }
    }

    @Test("what can't be written is refused through the completion (S-0b)")
    func badArguments() async throws {
        let kit = try makeKit()
        func setting(
            _ data: AgoraRtmMetadata, _ type: AgoraRtmChannelType = .message, lock: String? = nil
        ) async -> AgoraRtmErrorCode? {
            await kit.setChannelMetadata(
                channelName: "c", channelType: type, data: data, options: nil, lock: lock
            ).1?.errorCode
        }
        let missing = AgoraRtmMetadataItem()
        missing.key = "k"
        let destroyed = Self.metadata([Self.item])
        destroyed.isDestroyed = true
        #expect(await setting(destroyed) == .storageInvalidMetadataInstance, "D-12")
        #expect(await setting(Self.metadata(nil)) == .storageInvalidMetadataItem, "D-12")
        #expect(await setting(Self.metadata([missing])) == .storageInvalidValue, "D-13")
        missing.value = ""
        #expect(await setting(Self.metadata([missing])) == .notLogin, "D-13")
        #expect(await setting(Self.metadata([Self.item, Self.item])) == .storageDuplicateKey, "D-12")
        #expect(await setting(Self.metadata([Self.item]), .user) == .invalidChannelType, "D-14")
        #expect(await setting(Self.metadata([Self.item]), lock: "é") == .storageInvalidLockName, "L-12")
        let lock = await kit.setLock(channelName: "c", channelType: .user, lockName: "l", ttl: 10).1
        #expect(lock?.errorCode == .invalidChannelType, "K-1")
        let key = AgoraRtmMetadataItem()
        key.key = "k"
        #expect(
            await kit.removeChannelMetadata(
                channelName: "c", channelType: .message, data: Self.metadata([key]), options: nil, lock: nil
            ).1?.errorCode == .notLogin, "a removal needs no value")
    }

    @Test("history: channel type, count and bounds (H-1, L-43, H-5)")
    func history() async throws {
        let kit = try makeKit()
        func asking(
            _ type: AgoraRtmChannelType = .message, count: Int32 = 10, start: UInt64 = 0, end: UInt64 = 0
        ) async -> AgoraRtmErrorCode? {
            let options = AgoraRtmGetHistoryMessagesOptions()
            (options.messageCount, options.start, options.end) = (count, start, end)
            return await kit.getHistory()?.getMessages(channelName: "c", channelType: type, options: options)
                .1?.errorCode
        }
        #expect(await asking() == .notLogin)
        #expect(await asking(.user) == .notLogin)
        #expect(await asking(.stream) == .invalidChannelType)
        #expect(await asking(count: 0) == .invalidParameter)
        #expect(await asking(count: 101) == .invalidParameter)
        #expect(await asking(start: 5, end: 6) == .historyInvalidTimestamp)
        #expect(AgoraRtmGetHistoryMessagesOptions().messageCount == 100)
    }

    @Test("objects are read when the call is made")
    func objectsAreCopied() async throws {
        let kit = try makeKit()
        let data = Self.metadata([AgoraRtmMetadataItem(key: "k", value: "v", revision: -2)])
        let result = await Self.block { completion in
            kit.setUserMetadata(userId: "", data: data, options: nil, completion: completion)
            data.items = []
        }
        #expect(result.1?.errorCode == .storageInvalidRevision)
    }

    // MARK: Events and answers

    @Test("a storage event carries all fields (D-40, D-42)")
    func storageEvents() {
        let metadata = RTMMetadata(
            majorRevision: 9,
            items: [
                MetadataItem(key: "a", value: "1", revision: 8, updatedAtMilliseconds: 7, author: "bob"),
                MetadataItem(key: "b", value: "", revision: 9),
            ])
        let channel = AgoraRtmStorageEvent(
            MetadataEvent(
                kind: .update, target: .channel("lobby", type: .stream), metadata: metadata,
                timestampMilliseconds: 5))
        #expect(channel.channelType == .stream && channel.storageType == .channel)
        #expect(channel.eventType == .update && channel.target == "lobby" && channel.timestamp == 5)
        #expect(channel.data.majorRevision == 9)
        let items = channel.data.items ?? []
        #expect(items.map(\.key) == ["a", "b"] && items.map(\.value) == ["1", ""])
        #expect(items.map(\.revision) == [8, 9] && items.map(\.authorUserId) == ["bob", ""])
        #expect(items.map(\.updateTs) == [7, 0])
        let user = AgoraRtmStorageEvent(
            MetadataEvent(
                kind: .snapshot, target: .user("bob"), metadata: RTMMetadata(), timestampMilliseconds: 5))
        #expect(user.channelType == .none && user.storageType == .user && user.eventType == .snapshot)
        #expect(user.target == "bob" && user.data.items == [] && user.data.majorRevision == 0)
    }

    @Test("a lock event carries all fields (K-14)")
    func lockEvents() {
        let types: [(LockEvent.Kind, AgoraRtmLockEventType)] = [
            (.snapshot, .snapshot), (.set, .lockSet), (.removed, .lockRemoved), (.acquired, .lockAcquired),
            (.released, .lockReleased), (.expired, .lockExpired),
        ]
        #expect(types.count == LockEvent.Kind.allCases.count)
        for (kind, type) in types {
            let event = AgoraRtmLockEvent(
                LockEvent(
                    kind: kind, channelType: .message, channelName: "lobby",
                    locks: [
                        LockDetail(name: "l", owner: "bob", ttl: .seconds(30), timestampMilliseconds: 5),
                        LockDetail(name: "m"),
                    ], timestampMilliseconds: 5))
            #expect(event.eventType == type && event.channelType == .message)
            #expect(event.channelName == "lobby" && event.timestamp == 5)
            #expect(event.lockDetailList.map(\.lockName) == ["l", "m"])
            #expect(event.lockDetailList.map(\.owner) == ["bob", ""])
            #expect(event.lockDetailList.map(\.ttl) == [30, 10])
            #expect(event.lockDetailList.map(\.timestamp) == [5, 0])
        }
    }

    @Test("answers become objects")
    func answers() {
        let locks = AgoraRtmGetLocksResponse([LockDetail(name: "l")])
        #expect(locks.locks.map(\.lockName) == ["l"])
        let page = AgoraRtmGetHistoryMessagesResponse(
            HistoryPage(
                messages: [
                    HistoryMessage(
                        payload: .text("hi"), publisher: "bob", customType: "t", timestampMilliseconds: 5),
                    HistoryMessage(payload: .data(Data([1])), publisher: "bob", timestampMilliseconds: 4),
                ], nextStart: 3))
        #expect(page.newStart == 3 && page.messageList.map(\.timestamp) == [5, 4])
        #expect(page.messageList.map(\.message.stringData) == ["hi", nil])
        #expect(page.messageList.map(\.message.rawData) == [nil, Data([1])])
        #expect(page.messageList.map(\.customType) == ["t", ""])
        #expect(AgoraRtmGetHistoryMessagesResponse(HistoryPage(messages: [])).newStart == 0)
        let copy = page.messageList[0].copy() as? AgoraRtmHistoryMessage
        #expect(copy?.message.stringData == "hi" && copy?.publisher == "bob" && copy?.timestamp == 5)
    }
}
