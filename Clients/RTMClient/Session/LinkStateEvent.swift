/// Which link an event is about.
public enum LinkServiceType: Int, Sendable, Hashable, CaseIterable {
    /// No service; no event has it.
    case none = 0
    /// The link of the client itself.
    case message = 1
    /// The link of one stream channel.
    case stream = 2
}

/// One change of the link state (S-23).
public struct LinkStateEvent: Sendable, Hashable {
    /// The state from now on.
    public var currentState: RTMLinkState
    /// The state before.
    public var previousState: RTMLinkState
    /// Which kind of channels the link serves.
    public var serviceType: LinkServiceType
    /// What led to the change.
    public var operation: LinkOperation
    /// Why the state changed, by number.
    public var reasonCode: LinkStateReason
    /// The reason in words, for a person.
    public var reason: String
    /// Channels that were subscribed when the link changed (S-18). They are named when the link is lost,
    /// restored or given up.
    public var affectedChannels: [String]
    /// Channels that a reconnect didn't bring back as they were (S-18). Either the server refused the
    /// subscription, which has ended then, or the subscription goes on behind a ``RTMEvent/gap(_:)``.
    /// Normally there are none.
    public var unrestoredChannels: [String]
    /// Those of `unrestoredChannels` that the token, which is another one since, doesn't allow to subscribe
    /// to.
    public var forbiddenChannels: [String] = []
    /// Users whose metadata are not followed any more, because the server refused that at a reconnect.
    /// Normally there are none.
    public var unrestoredUsers: [String]
    /// Whether the link came back within two minutes of its loss and nothing is missing (S-17): both
    /// `unrestoredChannels` and `unrestoredUsers` are empty, and no message to this user was lost.
    public var isResumed: Bool
    /// Why no connection could be opened, where the cause has a name. `nil` for every other change.
    public var connectionFailure: ConnectionFailure?
    /// Milliseconds since 1970 by the server's clock where it is known, otherwise by the local one.
    public var timestampMilliseconds: UInt64

    /// Makes the value, as tests of apps do.
    public init(
        currentState: RTMLinkState, previousState: RTMLinkState, serviceType: LinkServiceType = .message,
        operation: LinkOperation, reasonCode: LinkStateReason, reason: String,
        affectedChannels: [String] = [],
        unrestoredChannels: [String] = [], unrestoredUsers: [String] = [], isResumed: Bool = false,
        timestampMilliseconds: UInt64
    ) {
        self.currentState = currentState
        self.previousState = previousState
        self.serviceType = serviceType
        self.operation = operation
        self.reasonCode = reasonCode
        self.reason = reason
        self.affectedChannels = affectedChannels
        self.unrestoredChannels = unrestoredChannels
        self.unrestoredUsers = unrestoredUsers
        self.isResumed = isResumed
        self.timestampMilliseconds = timestampMilliseconds
    }
}
