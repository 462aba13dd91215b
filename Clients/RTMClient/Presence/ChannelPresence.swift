import RTMModel
import RTMProtocol

/// Presence of the subscribed channels: who is in them, and which states this user shows there. A snapshot
/// says what the server has of the own states, and where no snapshot comes, the server is asked for them.
final class ChannelPresence {
    private let rosters: Rosters
    private let ownStates: OwnStates

    init(rosters: Rosters, ownStates: OwnStates) {
        self.rosters = rosters
        self.ownStates = ownStates
    }

    /// A subscription has begun, has new features, or was restored.
    ///
    /// - Parameters:
    ///   - hasSetStates: whether the user shows what the subscribe has brought.
    ///   - isNew: false for a restoration: what was emitted before still holds.
    func follow(
        _ channel: ChannelID, features: SubscriptionFeatures, unavailable: SubscriptionFeatures,
        epoch: UInt64, hasSetStates: Bool, isNew: Bool
    ) {
        let awaitsSnapshot = rosters.follow(
            channel, features: features, unavailable: unavailable, epoch: epoch, isNew: isNew,
            ownStates: ownStates.states(in: channel))
        if !awaitsSnapshot { ownStates.settle(in: channel, hasSetBrought: hasSetStates) }
    }

    /// What a subscribe brings along (P-46).
    func statesToBring(to channel: ChannelID) -> [String: String] { ownStates.bring(to: channel) }

    func received(_ snapshot: Rtm_Client_PresenceSnapshot) {
        let channel = ChannelID(snapshot.channelType, snapshot.channel)
        let own = ownStates.states(in: channel)
        guard rosters.received(snapshot, in: channel, ownStates: own) else { return }
        ownStates.restore(in: channel, shown: rosters.listedStates(in: channel))
    }

    /// The channel's log continues in this epoch after a gap.
    func skip(_ channel: ChannelID, toEpoch epoch: UInt64) { rosters.skip(channel, toEpoch: epoch) }

    /// The subscription has ended.
    func forget(_ channel: ChannelID) {
        rosters.forget(channel)
        ownStates.forget(channel)
    }

    func forgetAll() {
        rosters.forgetAll()
        ownStates.forgetAll()
    }
}
