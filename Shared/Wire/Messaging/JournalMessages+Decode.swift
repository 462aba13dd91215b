import RTMModel

extension JournalBatch {
    /// Calls `body` with every record of a batch, in order. What isn't known can't be passed over: another
    /// node may have meant it for the entries behind it.
    package static func read(
        _ bytes: UnsafeRawBufferPointer, _ body: (JournalRecord) throws(WireError) -> Void
    ) throws(WireError) {
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.JournalBatch.entries: try body(.entries(JournaledEntries(scanning: field.bytes)))
            case Schema.JournalBatch.channels: try body(.channel(JournaledChannel(scanning: field.bytes)))
            case Schema.JournalBatch.claims: try body(.claim(JournaledClaim(scanning: field.bytes)))
            case Schema.JournalBatch.heads: try body(.heads(JournaledHeads(scanning: field.bytes)))
            default: throw .undecodable
            }
        }
    }
}

extension ScannedKey {
    /// The key as a value that may be kept. Throws if there was none, or one of an unknown type.
    func channel() throws(WireError) -> ChannelKey {
        guard let number = type, let type = ChannelType(rawValue: number) else { throw .undecodable }
        return ChannelKey(appID: appID.string, type: type, name: name.string)
    }
}

extension JournaledEntries: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var (offset, timestamp, session, count, feature) = (
            UInt64(0), UInt64(0), UInt64(0), UInt32(0), UInt32(0)
        )
        var frames = WireText.empty
        var (user, client, sequence, previous) = (UInt32(0), UInt64(0), UInt64(0), UInt64(0))
        var (source, sourceSequence) = (UInt64(0), UInt64(0))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.offset: offset = try field.uint64
            case Fields.timestampMs: timestamp = try field.uint64
            case Fields.count: count = try field.uint32
            case Fields.publisherSession: session = try field.uint64
            case Fields.feature: feature = try field.uint32
            case Fields.frames: frames = try field.view
            case Fields.user: user = try field.uint32
            case Fields.client: client = try field.uint64
            case Fields.sequence: sequence = try field.uint64
            case Fields.previous: previous = try field.uint64
            case Fields.source: source = try field.uint64
            case Fields.sourceSequence: sourceSequence = try field.uint64
            default: throw .undecodable
            }
        }
        self.init(
            channel: try key.channel(), offset: offset, timestamp: timestamp, count: Int(count),
            publisherSession: session, feature: SubscriptionFeatures(rawValue: feature), frames: frames)
        (self.user, self.client, self.sequence, self.previous) = (user, client, sequence, previous)
        (self.source, self.sourceSequence) = (source, sourceSequence)
    }
}

extension JournaledChannel: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var (head, timestamp, hadEntries) = (UInt64(0), UInt64(0), false)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.head: head = try field.uint64
            case Fields.timestampMs: timestamp = try field.uint64
            case Fields.hadEntries: hadEntries = try field.bool
            default: throw .undecodable
            }
        }
        self.init(channel: try key.channel(), head: head, timestamp: timestamp, hadEntries: hadEntries)
    }
}

extension JournaledClaim: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var key = ScannedKey()
        var (number, holder, isOnline, attempt) = (UInt64(0), UInt64(0), false, UInt64(0))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channel: key = try ScannedKey(scanning: field.bytes)
            case Fields.number: number = try field.uint64
            case Fields.holder: holder = try field.uint64
            case Fields.online: isOnline = try field.bool
            case Fields.attempt: attempt = try field.uint64
            default: throw .undecodable
            }
        }
        self.init(
            channel: try key.channel(), number: number, holder: holder, isOnline: isOnline, attempt: attempt)
    }
}

extension JournaledHeads: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var heads: [JournaledHead] = []
        var time: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.heads: heads.append(try JournaledHead(scanning: field.bytes))
            case Fields.timeMs: time = try field.uint64
            default: throw .undecodable
            }
        }
        self.init(heads: heads, time: time)
    }
}

extension JournaledHead: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var (partition, offset) = (UInt32(0), UInt64(0))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.partition: partition = try field.uint32
            case Fields.offset: offset = try field.uint64
            default: throw .undecodable
            }
        }
        self.init(partition: partition, offset: offset)
    }
}
