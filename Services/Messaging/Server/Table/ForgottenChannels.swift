/// The channels of one app that were forgotten with entries in their past: when one of them is used again, it
/// continues, and a position in it means what it meant.
///
/// Half of the capacity is for those that were forgotten last. When it is full, the other half is dropped. Of
/// those only the newest offset in each partition is known, so a reader who stood before it may have missed
/// something.
///
/// Pure. Channels are known by their numbers (`NameHash`).
struct ForgottenChannels {
    /// What any channel of a partition may have had that was dropped.
    struct Dropped {
        /// The newest offset.
        var head: UInt64
        /// The timestamp of the newest entry.
        var timestamp: UInt64

        fileprivate func merged(with other: Dropped) -> Dropped {
            Dropped(head: max(head, other.head), timestamp: max(timestamp, other.timestamp))
        }
    }

    private let halfMax: Int
    private var young: [UInt64: ChannelChain.Remains] = [:]
    private var old: [UInt64: ChannelChain.Remains] = [:]
    /// What the channels of each half had at most, and those that were dropped.
    private var ofYoung: [UInt16: Dropped] = [:]
    private var ofOld: [UInt16: Dropped] = [:]
    private var dropped: [UInt16: Dropped] = [:]

    /// - Parameter dropped: what channels may have had of which nothing was known at the beginning.
    init(countMax: Int, dropped: [UInt16: Dropped] = [:]) {
        halfMax = max(1, countMax / 2)
        self.dropped = dropped
    }

    var count: Int { young.count + old.count }

    subscript(channel: UInt64) -> ChannelChain.Remains? { young[channel] ?? old[channel] }

    /// What a channel may have had of which nothing is remembered; nil if nothing.
    func dropped(of partition: UInt16) -> Dropped? { dropped[partition] }

    mutating func insert(_ remains: ChannelChain.Remains, of channel: UInt64) {
        young[channel] = remains
        let last = Dropped(head: remains.head, timestamp: remains.lastTimestamp)
        ofYoung[remains.partition] = ofYoung[remains.partition].map { $0.merged(with: last) } ?? last
        guard young.count >= halfMax else { return }
        if !old.isEmpty { dropped.merge(ofOld) { $0.merged(with: $1) } }
        (young, old) = ([:], young)
        (ofYoung, ofOld) = ([:], ofYoung)
    }

    mutating func take(_ channel: UInt64) -> ChannelChain.Remains? {
        young.removeValue(forKey: channel) ?? old.removeValue(forKey: channel)
    }
}
