import RTMModel
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

@testable import RTMWire

/// The services' own messages. What SwiftProtobuf writes is read field by field, and written again to the
/// same bytes.
@Suite("Messages between services")
struct ServiceMessageTests {
    private let arena = SharedArena()

    @Test("AttachRequest")
    func attachRequest() throws {
        try each(Rtm_Service_AttachRequest.self) { message, bytes in
            guard message.channel.isOurs, message.hasChannel else {
                return try refuses(AttachRequest.self, bytes)
            }
            let read = try AttachRequest(bytes, in: arena.value)
            #expect(read.channel == message.channel.model)
            #expect(read.interest == message.interest)
            #expect(read.after == (message.hasAfter ? message.after.model : nil))
            #expect(read.ownership == (message.exclusive ? message.ownership : nil))
            #expect(read.returns == (message.exclusive && message.returns))
            #expect(read.attempt == (message.exclusive ? message.attempt : 0))
            // Without `exclusive`, an ownership, an owner and its return mean nothing and aren't passed on.
            let isNothing =
                message.ownership == 0 && message.owner == 0 && !message.returns && message.attempt == 0
            guard message.exclusive || isNothing else { return }
            try writes(read, message)
        }
    }

    @Test("AttachResponse")
    func attachResponse() throws {
        try each(Rtm_Service_AttachResponse.self) { message, bytes in
            guard message.hasPosition else { return try refuses(AttachResponse.self, bytes) }
            let read = try AttachResponse(bytes, in: arena.value)
            #expect(read == AttachResponse(position: message.position.model, ownership: message.ownership))
            try writes(read, message)
        }
    }

    @Test("SkipPush")
    func skipPush() throws {
        try each(Rtm_Service_SkipPush.self) { message, bytes in
            guard message.hasPosition else { return try refuses(SkipPush.self, bytes) }
            let read = try SkipPush(bytes, in: arena.value)
            #expect(read.interest == message.interest && read.position == message.position.model)
            #expect(read.features.rawValue == message.features)
            try writes(read, message)
        }
    }

    @Test("SupersededPush")
    func supersededPush() throws {
        try each(Rtm_Service_SupersededPush.self) { message, bytes in
            let read = try SupersededPush(bytes, in: arena.value)
            #expect(read.interest == message.interest)
            try writes(read, message)
        }
    }

    @Test("DetachPush")
    func detachPush() throws {
        try each(Rtm_Service_DetachPush.self) { message, bytes in
            let read = try DetachPush(bytes, in: arena.value)
            #expect(read.interest == message.interest && read.isLoggedOut == message.loggedOut)
            try writes(read, message)
        }
    }

    @Test(
        "PublishRequest: an unknown type of channel is left to the service, which refuses it with its own code"
    )
    func publishRequest() throws {
        try each(Rtm_Service_PublishRequest.self) { message, bytes in
            guard message.hasChannel, !message.messages.isEmpty else {
                return try refuses(PublishRequest.self, bytes)
            }
            let read = try PublishRequest(scanning: bytes)
            #expect(read.appID.string == message.channel.appID)
            #expect(
                read.channelType?.rawValue == (message.channel.isOurs ? message.channel.type.rawValue : nil))
            #expect(read.channel.string == message.channel.name)
            #expect(read.publisher.string == message.publisher)
            #expect(read.publisherSession == message.publisherSession)
            #expect(read.needsReceiver == message.needsReceiver)
            #expect(read.origin.instance == message.instance)
            #expect(read.origin.sequence == message.sequence)
            #expect(read.origin.againAfter == (message.again ? message.ageMs : nil))
            #expect(read.origin.epoch == (message.again ? message.epoch : 0))
            #expect(read.messages.count == message.messages.count)
            var expected = message.messages[...]
            for read in read.messages {
                let message = expected.popFirst() ?? Rtm_Client_Message()
                #expect(read.payload.copied == Array(message.payload))
                #expect(read.customType.string == message.customType)
                #expect(read.priority == (TopicPriority(rawValue: message.priority.rawValue) ?? .normal))
                #expect(read.type?.rawValue == (message.isOurs ? message.type.rawValue : nil))
            }
            #expect(expected.isEmpty)
            // The age and the epoch of a publish that isn't sent again mean nothing and aren't passed on.
            let isNothing = message.ageMs == 0 && message.epoch == 0
            guard message.channel.isOurs, message.again || isNothing else { return }
            // The run comes behind the other fields, so the bytes are in another order.
            #expect(try Rtm_Service_PublishRequest(serializedBytes: read.encoded) == message)
        }
    }

    @Test("PublishResponse")
    func publishResponse() throws {
        try each(Rtm_Service_PublishResponse.self) { message, bytes in
            let read = try PublishResponse(scanning: bytes)
            #expect(
                read
                    == PublishResponse(
                        offset: message.offset, timestampMilliseconds: message.timestampMs,
                        order: message.order))
            try writes(read, message)
        }
    }

    @Test("ReadRequest")
    func readRequest() throws {
        try each(Rtm_Service_ReadRequest.self) { message, bytes in
            guard message.channel.isOurs, message.hasChannel, message.hasAfter else {
                return try refuses(ReadRequest.self, bytes)
            }
            let read = try ReadRequest(bytes, in: arena.value)
            #expect(
                read
                    == ReadRequest(
                        channel: message.channel.model, after: message.after.model,
                        exceptPublisher: message.exceptPublisher,
                        features: SubscriptionFeatures(rawValue: message.features)))
            try writes(read, message)
        }
    }

    @Test("ReadResponse")
    func readResponse() throws {
        try each(Rtm_Service_ReadResponse.self) { message, bytes in
            guard message.hasPosition else { return try refuses(ReadResponse.self, bytes) }
            let read = try ReadResponse(bytes, in: arena.value)
            #expect(read.frames.copied == Array(message.frames))
            #expect(read.position == message.position.model)
            #expect(read.gap == message.gap)
            #expect(read.more == message.more)
            try writes(read, message)
        }
    }

    @Test("DeliveryPush")
    func deliveryPush() throws {
        try each(Rtm_Service_DeliveryPush.self) { message, bytes in
            let read = try DeliveryPush(scanning: bytes)
            #expect(read.interest == message.interest)
            #expect(read.offset == message.offset)
            #expect(read.publisherSession == message.publisherSession)
            #expect(read.feature.rawValue == message.feature)
            #expect(read.count == Int(message.count))
            #expect(read.offsetsBetween == message.offsetsBetween)
            #expect(read.frames.copied == Array(message.frames))
            try writes(read, message)
        }
    }

    @Test("JoinRequest")
    func joinRequest() throws {
        let arena = DecodeArena()
        try each(Rtm_Service_JoinRequest.self) { message, bytes in
            guard message.channel.isOurs, message.hasChannel, message.hasCaller else { return }
            let read = try JoinRequest(bytes, in: arena)
            #expect(read.channel == message.channel.model)
            #expect(read.caller.userID == message.caller.userID)
            #expect(read.caller.session.rawValue == message.caller.sessionID)
            #expect(read.lease == message.lease && read.ownership == message.ownership)
            #expect(read.states.map(\.value) == message.states.map(\.value))
            try writes(read, message)
        }
    }

    @Test("JoinResponse, RosterRequest, RosterResponse, LeaseRequest, SyncResponse")
    func rosters() throws {
        let arena = DecodeArena()
        try each(Rtm_Service_JoinResponse.self) { message, bytes in
            guard message.hasPosition else { return }
            let read = try JoinResponse(bytes, in: arena)
            #expect(read.frames.copied == Array(message.frames) && read.isTooBig == message.tooBig)
            #expect(read.isOlder == message.older && read.hasSetStates == message.statesSet)
            #expect(read.statesCost == message.statesCost)
            try writes(read, message)
        }
        try each(Rtm_Service_LeaseRequest.self) { message, bytes in
            let read = try LeaseRequest(bytes, in: arena)
            #expect(read.lease == message.lease && read.link == message.link)
            try writes(read, message)
        }
        try each(Rtm_Service_SyncResponse.self) { message, bytes in
            let read = try SyncResponse(bytes, in: arena)
            #expect(read.older.map(\.place) == message.older.map(\.place))
            try writes(read, message)
        }
        try each(Rtm_Service_RosterRequest.self) { message, bytes in
            guard message.channel.isOurs, message.hasChannel else { return }
            let read = try RosterRequest(bytes, in: arena)
            #expect(read.channel == message.channel.model && read.snapshot == message.snapshot)
            try writes(read, message)
        }
        try each(Rtm_Service_RosterResponse.self) { message, bytes in
            let read = try RosterResponse(bytes, in: arena)
            #expect(read.frames.copied == Array(message.frames) && read.snapshot == message.snapshot)
            try writes(read, message)
        }
    }

    @Test("AppendHistoryRequest, which is only written so far")
    func appendHistoryRequest() throws {
        try each(Rtm_Service_AppendHistoryRequest.self) { message, _ in
            guard message.channel.isOurs, message.hasChannel, message.hasMessage, message.message.isOurs,
                message.message.hasKnownPriority
            else {
                return
            }
            let content = message.message
            try withWireTexts([Array(content.payload), Array(content.customType.utf8)]) { texts in
                let append = AppendHistoryRequest(
                    channel: message.channel.model, publisher: message.publisher,
                    timestampMilliseconds: message.timestampMs, order: message.order,
                    message: MessageView(
                        type: MessageType(rawValue: content.type.rawValue), payload: texts[0],
                        customType: texts[1],
                        priority: TopicPriority(rawValue: content.priority.rawValue) ?? .normal),
                    origin: PublishOrigin(instance: message.instance, sequence: message.sequence))
                try writes(append, message)
            }
        }
    }

    @Test("the numbers of the methods are the schema's")
    func methods() {
        let messaging = Rtm_Service_MessagingMethod.self
        #expect(Int(MessagingMethod.attach.number) == messaging.messagingAttach.rawValue)
        #expect(Int(MessagingMethod.detach.number) == messaging.messagingDetach.rawValue)
        #expect(Int(MessagingMethod.publish.number) == messaging.messagingPublish.rawValue)
        #expect(Int(MessagingMethod.read.number) == messaging.messagingRead.rawValue)
        #expect(Int(MessagingMethod.delivery.number) == messaging.messagingDelivery.rawValue)
        #expect(Int(PresenceMethod.join.number) == Rtm_Service_PresenceMethod.presenceJoin.rawValue)
        #expect(Int(PresenceMethod.roster.number) == Rtm_Service_PresenceMethod.presenceRoster.rawValue)
        #expect(
            Int(StorageMethod.appendHistory.number) == Rtm_Service_StorageMethod.storageAppendHistory.rawValue
        )
    }

    // MARK: -

    /// Full and random messages as SwiftProtobuf writes them.
    private func each<M: Message>(
        _ type: M.Type, _ body: (M, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let row = try #require(SchemaMessage.all.first { $0.swift == type })
        for seed in 0..<500 as Range<UInt64> {
            var sample = SchemaSample(
                generator: SeededGenerator(seed: seed), filling: seed < 50 ? .full(choice: 0) : .random)
            let message = try M(serializedBytes: sample.bytes(row.descriptor()))
            let bytes: [UInt8] = try message.serializedBytes()
            try bytes.withUnsafeBytes { try body(message, $0) }
        }
    }

    private func writes(_ ours: some WireMessage, _ message: some Message) throws {
        let bytes = ours.encoded
        #expect(try bytes == message.serializedBytes())
        #expect(ours.encodedLength == bytes.count)
        #expect(ours.framed == frame(bytes))
    }

    private func refuses(_ type: (some ScanDecodable).Type, _ bytes: UnsafeRawBufferPointer) throws {
        #expect(throws: WireError.undecodable) { _ = try type.init(scanning: bytes) }
    }

    private func refuses(_ type: (some ArenaDecodable).Type, _ bytes: UnsafeRawBufferPointer) throws {
        #expect(throws: WireError.undecodable) { _ = try type.init(bytes, in: arena.value) }
    }
}

/// Lets closures use one arena.
private final class SharedArena {
    let value = DecodeArena(capacity: 4096)
}

extension Rtm_Service_ChannelKey {
    /// Whether the call's type of channel is one of the schema's.
    fileprivate var isOurs: Bool { Rtm_Client_ChannelType.allCases.contains(type) }

    fileprivate var model: ChannelKey {
        ChannelKey(appID: appID, type: ChannelType(rawValue: type.rawValue) ?? .none, name: name)
    }
}

extension Rtm_Client_Message {
    fileprivate var isOurs: Bool { Rtm_Client_MessageType.allCases.contains(type) }
    fileprivate var hasKnownPriority: Bool { Rtm_Client_Priority.allCases.contains(priority) }
}

extension Rtm_Client_StreamPosition {
    fileprivate var model: StreamPosition { StreamPosition(epoch: epoch, offset: offset) }
}
