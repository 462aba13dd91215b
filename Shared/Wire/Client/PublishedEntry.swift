package import RTMModel

/// What those need to know of a log's entry who keep it without reading its content: where and when it was,
/// and who came and went.
package struct PublishedEntry: Sendable, Hashable {
    package enum Event: Sendable, Hashable {
        case message
        case metadata
        case lock
        /// Presence: who came, who left, and who was lost. All are empty if only states have changed.
        case presence(joined: [String], left: [String], timedOut: [String])
    }

    package let channelType: ChannelType
    package let channel: String
    package let timestampMilliseconds: UInt64
    package let event: Event

    package init(
        channelType: ChannelType, channel: String, timestampMilliseconds: UInt64, event: Event
    ) {
        self.channelType = channelType
        self.channel = channel
        self.timestampMilliseconds = timestampMilliseconds
        self.event = event
    }
}

extension PublishedEntry: ScanDecodable {
    private typealias Fields = Schema.Publication

    /// Reads a ServerFrame without its length prefix.
    package init(scanning frame: UnsafeRawBufferPointer) throws(WireError) {
        var outer = ProtobufScanner(frame)
        while let body = try outer.next() {
            guard body.number == Publication.field.number else { continue }
            try self.init(publication: body.bytes)
            return
        }
        throw .undecodable
    }

    private init(publication bytes: UnsafeRawBufferPointer) throws(WireError) {
        var (type, channel, time) = (ChannelType.none, "", UInt64(0))
        var publisher = ""
        var event: Event?
        var presence: UnsafeRawBufferPointer?
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.channelType: type = ChannelType(rawValue: try field.enumeration) ?? .none
            case Fields.channel: channel = try field.view.string
            case Fields.timestampMs: time = try field.uint64
            case Fields.publisher: publisher = try field.view.string
            case Fields.message: event = .message
            case Fields.storage: event = .metadata
            case Fields.lock: event = .lock
            case Fields.presence: presence = try field.bytes
            default: break
            }
        }
        if let presence { event = try .presence(presence, of: publisher) }
        guard let event else { throw .undecodable }
        self.init(channelType: type, channel: channel, timestampMilliseconds: time, event: event)
    }
}

extension PublishedEntry.Event {
    private typealias Fields = Schema.PresenceEvent
    private typealias Interval = Schema.PresenceInterval

    /// - Parameter user: whom the event is about, unless it is an interval.
    fileprivate static func presence(
        _ bytes: UnsafeRawBufferPointer, of user: String
    ) throws(WireError) -> Self {
        var (joined, left, timedOut): ([String], [String], [String]) = ([], [], [])
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.type:
                switch PresenceEvent.Kind(rawValue: try field.enumeration) {
                case .joined: joined = [user]
                case .left: left = [user]
                case .timedOut: timedOut = [user]
                case .statesChanged, .interval, nil: break
                }
            case Fields.interval:
                var interval = ProtobufScanner(try field.bytes)
                while let list = try interval.next() {
                    switch list.number {
                    case Interval.joined: joined.append(try list.view.string)
                    case Interval.left: left.append(try list.view.string)
                    case Interval.timedOut: timedOut.append(try list.view.string)
                    default: break
                    }
                }
            default: break
            }
        }
        return .presence(joined: joined, left: left, timedOut: timedOut)
    }
}
