import RTMModel

/// Where an entry lies in the tail of its app.
struct EntryPlace: Equatable {
    /// Segments are numbered from 1.
    let segment: UInt32
    let index: UInt32

    /// Of no entry.
    static let none = EntryPlace(segment: 0, index: 0)
}

/// What is known of an entry beside its frame.
struct EntryRecord {
    let timestamp: UInt64
    let publisherSession: UInt64
    let offset: UInt64
    /// The entry before it in its channel, whether the tail still has it or not.
    let previous: EntryPlace
    let channel: ChannelSlot
    let feature: SubscriptionFeatures
    let user: UInt32
    /// The lower halves of the client and of its sequence number: no tail holds four billion messages of one
    /// client, and the frame says whose message it is.
    let client: UInt32
    let sequence: UInt32
    /// Where the frame lies in the segment.
    let start: UInt32
    let length: UInt32

    @inline(__always)
    init(
        timestamp: UInt64, publisherSession: UInt64, offset: UInt64, previous: EntryPlace,
        channel: ChannelSlot, feature: SubscriptionFeatures, _ origin: EntryOrigin,
        _ frame: (start: UInt32, length: UInt32)
    ) {
        self.timestamp = timestamp
        self.publisherSession = publisherSession
        self.offset = offset
        self.previous = previous
        self.channel = channel
        self.feature = feature
        user = origin.user
        client = UInt32(truncatingIfNeeded: origin.client)
        sequence = UInt32(truncatingIfNeeded: origin.sequence)
        start = frame.start
        length = frame.length
    }

    /// Who doesn't receive the entry because it is the user's own; 0 if everybody does.
    var owner: UInt32 { publisherSession == 0 ? 0 : user }
}
