import RTMModel

extension PublishRequest: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var publisher = WireText.empty
        var publisherSession: UInt64 = 0
        var needsReceiver = false
        var origin = PublishOrigin.none
        var isAgain = false
        var age: UInt32 = 0
        var epoch: UInt64 = 0
        var first: Int?
        var count = 0
        var scanner = ProtobufScanner(bytes)
        var place = 0
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.publisher: publisher = try field.view
            case Fields.publisherSession: publisherSession = try field.uint64
            case Fields.needsReceiver: needsReceiver = try field.bool
            case Fields.messages:
                _ = try MessageView(scanning: field.bytes)
                first = first ?? place
                count += 1
            case Fields.instance: origin.instance = try field.uint64
            case Fields.sequence: origin.sequence = try field.uint64
            case Fields.again: isAgain = try field.bool
            case Fields.ageMs: age = try field.uint32
            case Fields.epoch: epoch = try field.uint64
            default: break
            }
            place = scanner.place
        }
        guard let first, let channelType = key.type else { throw .undecodable }
        if isAgain {
            origin.againAfter = age
            origin.epoch = epoch
        }
        self.init(
            appID: key.appID, channelType: ChannelType(rawValue: channelType), channel: key.name,
            publisher: publisher, publisherSession: publisherSession, needsReceiver: needsReceiver,
            origin: origin,
            messages: MessageRun(UnsafeRawBufferPointer(rebasing: bytes[first...]), count: count))
    }
}

/// A ChannelKey as views.
struct ScannedKey: ScanDecodable {
    var appID = WireText.empty
    /// Nil if there is no key at all.
    var type: Int?
    var name = WireText.empty

    init() {}

    init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        type = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ChannelKey.appId: appID = try field.view
            case Schema.ChannelKey.type: type = try field.enumeration
            case Schema.ChannelKey.name: name = try field.view
            default: break
            }
        }
    }
}

extension MessageView: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var type = 0
        var payload = WireText.empty
        var customType = WireText.empty
        var priority = TopicPriority.normal
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.type: type = try field.enumeration
            case Fields.payload: payload = try field.view
            case Fields.customType: customType = try field.view
            case Fields.priority: priority = TopicPriority(wire: try field.enumeration)
            default: break
            }
        }
        self.init(
            type: MessageType(rawValue: type), payload: payload, customType: customType, priority: priority)
    }
}

extension PublishResponse: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(offset: 0, timestampMilliseconds: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.offset: offset = try field.uint64
            case Fields.timestampMs: timestampMilliseconds = try field.uint64
            default: break
            }
        }
    }
}

extension DeliveryPush: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var interest: UInt64 = 0
        var offset: UInt64 = 0
        var offsetsBetween: UInt64 = 0
        var publisherSession: UInt64 = 0
        var feature: UInt32 = 0
        var frames = WireText.empty
        var count: UInt32 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.interest: interest = try field.uint64
            case Fields.offset: offset = try field.uint64
            case Fields.publisherSession: publisherSession = try field.uint64
            case Fields.feature: feature = try field.uint32
            case Fields.frames: frames = try field.view
            case Fields.count: count = try field.uint32
            case Fields.offsetsBetween: offsetsBetween = try field.uint64
            default: break
            }
        }
        self.init(
            interest: interest, offset: offset, offsetsBetween: offsetsBetween, count: Int(count),
            publisherSession: publisherSession, feature: SubscriptionFeatures(rawValue: feature),
            frames: frames)
    }
}
