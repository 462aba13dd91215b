/// How many entries arrived in each channel between two looks at the offsets of their logs, which are there
/// anyway: so a delivery costs nothing for it. Pure.
struct ChannelActivity {
    /// Limit: channels of one loop that are compared. Those beyond it are counted.
    static let channelsMax = 200_000

    /// A channel of one loop, as it was at one moment.
    struct Reading: Sendable, Equatable {
        /// Names the channel's slot, and how often it was used: another channel in that slot has another one.
        let interest: UInt64
        let epoch: UInt64
        let offset: UInt64
        let subscribers: Int
    }

    private var before: [UInt64: Reading] = [:]
    /// How many channels were not compared, because there were too many.
    private(set) var omitted = 0

    mutating func begin(_ reading: Reading) {
        guard before.count < Self.channelsMax else {
            omitted += 1
            return
        }
        before[reading.interest] = reading
    }

    /// How many entries have arrived since; 0 for a channel that is new, or whose log is another one now.
    func entries(until reading: Reading) -> UInt64 {
        guard let before = before[reading.interest], before.epoch == reading.epoch,
            before.offset <= reading.offset
        else { return 0 }
        return reading.offset - before.offset
    }
}
