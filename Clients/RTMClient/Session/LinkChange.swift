/// A transition of the link state, as the state machine announces it. The link adds the channels and the
/// time.
struct LinkChange: Sendable, Hashable {
    var current: RTMLinkState
    var previous: RTMLinkState
    var operation: LinkOperation
    var reasonCode: LinkStateReason
    var reason: String
    var isResumed = false
    /// Whether the event names the subscribed channels (S-18).
    var listsChannels = false
    var unrestoredChannels: [String] = []
    var connectionFailure: ConnectionFailure?
}

extension LinkStateEvent {
    /// - Parameter restoration: what could not be brought back, shown when the link is connected again.
    init(
        _ change: LinkChange, subscribedChannels: [String], restoration: RestorationProgress?,
        timestampMilliseconds: UInt64
    ) {
        // Channels that end with this change are affected, too (S-18).
        let affected = Set(subscribedChannels).union(change.unrestoredChannels).sorted()
        self.init(
            currentState: change.current, previousState: change.previous, operation: change.operation,
            reasonCode: change.reasonCode, reason: change.reason,
            affectedChannels: change.listsChannels ? affected : [],
            unrestoredChannels: change.unrestoredChannels,
            isResumed: change.isResumed, timestampMilliseconds: timestampMilliseconds)
        if let restoration, change.current == .connected {
            unrestoredUsers = restoration.unrestoredUsers.sorted()
            forbiddenChannels = restoration.forbiddenChannels.sorted()
        }
        connectionFailure = change.connectionFailure
    }
}
