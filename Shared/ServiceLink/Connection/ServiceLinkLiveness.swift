import NIOCore

/// Whether the peer still lives, judged by what it sends. Both ends of a link judge in the same way.
///
/// Every byte shows that the peer is alive. After a quiet interval the peer is asked once, and it is gone if
/// it has sent nothing by the deadline. A late wake-up means that this process stood still, so the peer is
/// asked again instead of blamed.
struct ServiceLinkLiveness {
    enum WakeAction: Equatable {
        case none
        case sendHeartbeat
        case silent
    }

    private let interval: TimeAmount
    /// The time from the question to the verdict.
    private let grace: TimeAmount
    private var lastReceived: NIODeadline
    private var askedAt: NIODeadline?

    init(_ configuration: ServiceLinkConfiguration, now: NIODeadline) {
        interval = TimeAmount(configuration.heartbeatInterval)
        grace = TimeAmount(configuration.heartbeatDeadline - configuration.heartbeatInterval)
        lastReceived = now
    }

    /// Returns whether the peer had been asked. Then the next wake-up is earlier than it was.
    mutating func bytesReceived(now: NIODeadline) -> Bool {
        defer { askedAt = nil }
        lastReceived = now
        return askedAt != nil
    }

    var nextWake: NIODeadline {
        if let askedAt { askedAt + grace } else { lastReceived + interval }
    }

    mutating func wake(now: NIODeadline) -> WakeAction {
        guard now >= nextWake else { return .none }
        let isLate = now - nextWake >= grace
        guard askedAt != nil, !isLate else {
            askedAt = now
            return .sendHeartbeat
        }
        return .silent
    }
}
