package import NIOCore
package import RTMModel
package import RTMWire

/// An entry as a reader sees it.
package struct LogEntry {
    package let offset: UInt64
    package let time: LogTime
    package let publisherSession: UInt64
    /// The subscription feature that selects this entry.
    package let feature: SubscriptionFeatures
    /// A whole frame for clients, with its length prefix.
    package let frame: ByteBuffer

    /// In milliseconds.
    package var timestamp: UInt64 { time.milliseconds }
}

/// Entries that one session appended to a channel together. Their offsets are consecutive, and their times
/// follow the first one (`LogTime.following`).
package struct AppendedEntries {
    package let offset: UInt64
    /// The number of offsets between the channel's previous entry and the first of these. They belong to
    /// other channels.
    package let offsetsBetween: UInt64
    package let time: LogTime
    package let count: Int
    package let publisherSession: UInt64
    package let feature: SubscriptionFeatures
    /// The number of the channel's app.
    var app = 0
    /// The first of them.
    let place: EntryPlace
    /// Where their frames lie in the segment, one behind the other.
    let frames: Range<Int>

    /// That of the first one, in milliseconds.
    package var timestamp: UInt64 { time.milliseconds }
}
