import RTMModel
import RTMWire

/// Where an entry lies in the tail of its app.
struct EntryPlace: Equatable {
    /// Segments are numbered from 1.
    let segment: UInt32
    let index: UInt32

    /// Of no entry.
    static let none = EntryPlace(segment: 0, index: 0)
}

/// What is known of an entry beside its frame, in 64 bytes. The order of the fields leaves hardly a gap.
struct EntryRecord {
    let time: LogTime
    let publisherSession: UInt64
    let offset: UInt64
    /// As `EntryOrigin.client`.
    let client: UInt64
    /// The entry before it in its channel, whether the tail still has it or not.
    let previous: EntryPlace
    let channel: ChannelSlot
    /// The bits of the one feature that selects the entry.
    private let featureBits: UInt8
    let user: UInt32
    /// The lower half of the client's sequence number: no tail holds four billion messages of one client.
    let sequence: UInt32
    /// Where the frame lies in the segment.
    let start: UInt32
    let length: UInt32

    @inline(__always)
    init(
        time: LogTime, publisherSession: UInt64, offset: UInt64, previous: EntryPlace,
        channel: ChannelSlot, feature: SubscriptionFeatures, _ origin: EntryOrigin,
        _ frame: (start: UInt32, length: UInt32)
    ) {
        self.time = time
        self.publisherSession = publisherSession
        self.offset = offset
        self.previous = previous
        self.channel = channel
        featureBits = UInt8(truncatingIfNeeded: feature.rawValue)
        user = origin.user
        client = origin.client
        sequence = UInt32(truncatingIfNeeded: origin.sequence)
        start = frame.start
        length = frame.length
    }

    /// In milliseconds.
    @inline(__always)
    var timestamp: UInt64 { time.milliseconds }

    /// The feature that selects the entry.
    @inline(__always)
    var feature: SubscriptionFeatures { SubscriptionFeatures(rawValue: UInt32(featureBits)) }

    /// Who doesn't receive the entry because it is the user's own; 0 if everybody does.
    var owner: UInt32 { publisherSession == 0 ? 0 : user }
}
