import RTMModel

extension AppendRequest: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var source: UInt64 = 0
        var first: Int?
        var scanner = ProtobufScanner(bytes)
        var place = 0
        while let field = try scanner.next() {
            switch field.number {
            case 1: key = try ScannedKey(scanning: try field.bytes)
            case 2: source = try field.uint64
            case EventRun.field:
                _ = try AppendedEvent(scanning: try field.bytes)
                first = first ?? place
            default: break
            }
            place = scanner.place
        }
        guard let number = key.type, let type = ChannelType(rawValue: number) else { throw .undecodable }
        let events = first.map { EventRun(UnsafeRawBufferPointer(rebasing: bytes[$0...])) }
        self.init(
            channel: ChannelKey(appID: key.appID.string, type: type, name: key.name.string), source: source,
            events: events ?? EventRun())
    }
}

extension AppendedEvent: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var publisher = WireText.empty
        var publisherSession: UInt64 = 0
        var feature: UInt32 = 0
        var event = WireText.empty
        var sequence: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: publisher = WireText(try field.bytes)
            case 2: publisherSession = try field.uint64
            case 3: feature = try field.uint32
            case 4: event = WireText(try field.bytes)
            case 5: sequence = try field.uint64
            default: break
            }
        }
        self.init(
            publisher: publisher, publisherSession: publisherSession,
            feature: SubscriptionFeatures(rawValue: feature), event: event, sequence: sequence)
    }
}
