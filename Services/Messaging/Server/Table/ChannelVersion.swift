import RTMWire

/// Which whole state was published to a channel last. It is remembered for as long as the channel is: a state
/// that comes late finds nobody who has seen a newer one then.
struct ChannelVersion: Equatable {
    let number: UInt64
    /// Whose numbers these are: those of another epoch say nothing about them.
    let epoch: String

    /// Nil if the message is no whole state.
    init?(_ condition: PublishCondition?) {
        guard let condition, condition.version > 0 else { return nil }
        (number, epoch) = (condition.version, condition.versionEpoch)
    }

    init(_ record: JournaledVersion) { (number, epoch) = (record.version, record.epoch) }

    /// Whether this state comes behind the channel's last one.
    func follows(_ last: ChannelVersion?) -> Bool {
        guard let last, last.epoch == epoch else { return true }
        return number > last.number
    }
}
