import RTMModel

/// A message that is read where it lies. Views in it live as long as the bytes.
package protocol ScanDecodable {
    /// Unknown fields are skipped; of a field that occurs twice the last one counts.
    init(scanning bytes: UnsafeRawBufferPointer) throws(WireError)
}

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
            case 1: key = try ScannedKey(scanning: try field.bytes)
            case 2: publisher = WireText(try field.bytes)
            case 3: publisherSession = try field.uint64
            case 4: needsReceiver = try field.uint64 != 0
            case MessageRun.field:
                _ = try MessageView(scanning: try field.bytes)
                first = first ?? place
                count += 1
            case 6: origin.instance = try field.uint64
            case 7: origin.sequence = try field.uint64
            case 8: isAgain = try field.uint64 != 0
            case 9: age = try field.uint32
            case 10: epoch = try field.uint64
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
    /// Nil: there is no key at all.
    var type: Int?
    var name = WireText.empty

    init() {}

    init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        type = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: appID = WireText(try field.bytes)
            case 2: type = Int(try field.int32)
            case 3: name = WireText(try field.bytes)
            default: break
            }
        }
    }
}

extension MessageView: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var type: Int32 = 0
        var payload = WireText.empty
        var customType = WireText.empty
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: type = try field.int32
            case 2: payload = WireText(try field.bytes)
            case 3: customType = WireText(try field.bytes)
            default: break
            }
        }
        self.init(type: MessageType(rawValue: Int(type)), payload: payload, customType: customType)
    }
}

extension PublishResponse: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(offset: 0, timestampMilliseconds: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: offset = try field.uint64
            case 2: timestampMilliseconds = try field.uint64
            default: break
            }
        }
    }
}

extension DeliveryPush: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var interest: UInt64 = 0
        var offset: UInt64 = 0
        var publisherSession: UInt64 = 0
        var feature: UInt32 = 0
        var frames = WireText.empty
        var count: UInt32 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: interest = try field.uint64
            case 2: offset = try field.uint64
            case 3: publisherSession = try field.uint64
            case 4: feature = try field.uint32
            case 5: frames = WireText(try field.bytes)
            case 6: count = try field.uint32
            default: break
            }
        }
        self.init(
            interest: interest, offset: offset, count: Int(count), publisherSession: publisherSession,
            feature: SubscriptionFeatures(rawValue: feature), frames: frames)
    }
}

extension Publication {
    /// The publisher's name in a ServerFrame with its length prefix; nil when that is no publication.
    package static func publisher(inFrame frame: UnsafeRawBufferPointer) -> WireText? {
        var publisher: WireText?
        do throws(WireError) {
            var outer = ProtobufScanner(
                UnsafeRawBufferPointer(rebasing: frame.dropFirst(FrameReader.prefixLength)))
            while let body = try outer.next() {
                guard body.number == field else { continue }
                var scanner = ProtobufScanner(try body.bytes)
                while let entry = try scanner.next() {
                    if entry.number == 5 { publisher = WireText(try entry.bytes) }
                }
            }
        } catch {
            return nil
        }
        return publisher
    }
}
