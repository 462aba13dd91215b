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
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.source: source = try field.uint64
            case Fields.events:
                _ = try AppendedEvent(scanning: field.bytes)
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
            case Fields.publisher: publisher = try field.view
            case Fields.publisherSession: publisherSession = try field.uint64
            case Fields.feature: feature = try field.uint32
            case Fields.event: event = try field.view
            case Fields.sequence: sequence = try field.uint64
            default: break
            }
        }
        self.init(
            publisher: publisher, publisherSession: publisherSession,
            feature: SubscriptionFeatures(rawValue: feature), event: event, sequence: sequence)
    }
}
