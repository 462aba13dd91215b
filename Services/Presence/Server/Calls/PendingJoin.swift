import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// A join whose answer waits until its events are in the log. The request for the snapshot of a big channel
/// waits in the same way.
struct PendingJoin {
    let request: UInt64
    let link: AcceptedServiceLink
    let channel: ChannelKey
    let wantsSnapshot: Bool
    /// Nobody joins; only the snapshot is wanted, and it may be of any size.
    var isForRoster = false
    /// Whether the snapshot is too big for the answer to a join.
    var isTooBig = false
    /// Whether a newer login of the user is in the channel.
    var isOlder = false
    /// What the states that the user brought cost; nil if there are none, or if they were refused.
    var statesCost: Int?
    /// Whether the join waits for an answer of messaging.
    var needsMessaging = false
    /// The users, once the snapshot was taken; the events before it may still be on their way.
    var snapshot: RosterSnapshot?
}

extension PendingJoin {
    static var unreachable: RTMError {
        RTMError(
            .presenceOperationFailed, "presence can't reach messaging at the moment", retryAfter: .seconds(1))
    }

    static var timedOut: RTMError {
        RTMError(
            .presenceOperationTimeout, "the join's events did not reach the channel's log in time",
            retryAfter: .seconds(1))
    }

    func fail(_ error: RTMError) { link.fail(request, error) }

    func succeed(_ position: StreamPosition, _ limits: SnapshotLimits) {
        var frames = ByteBuffer()
        var isTooBig = isTooBig
        if let snapshot {
            let bytesMax = min(limits.joinBytesMax, limits.joinQueueMax - link.queuedBytes)
            let whole = SnapshotText(users: snapshot.users, channel: channel, position: position)
            isTooBig = whole.bytes > bytesMax
            if !isTooBig { _ = whole.write(from: 0, bytesMax: .max, into: &frames) }
        }
        frames.withUnsafeReadableBytes { bytes in
            link.respond(
                to: request,
                JoinResponse(
                    position: position, frames: WireText(bytes), isTooBig: isTooBig, isOlder: isOlder,
                    hasSetStates: statesCost != nil, statesCost: UInt64(clamping: statesCost ?? 0)))
        }
    }
}

/// The joins without an answer yet, by number. Pure: every call gets the time in milliseconds.
struct PendingJoins {
    private var joins: [UInt64: PendingJoin] = [:]
    private var deadlines = DeadlineQueue<UInt64>()
    private var last: UInt64 = 0

    subscript(number: UInt64) -> PendingJoin? {
        get { joins[number] }
        set { joins[number] = newValue }
    }

    /// Takes out the joins that wait for an answer of messaging about these channels, in their order.
    mutating func finishWaiting(where isAffected: (ChannelKey) -> Bool) -> [PendingJoin] {
        joins.filter { $0.value.needsMessaging && isAffected($0.value.channel) }.keys.sorted()
            .compactMap { finish($0) }
    }

    /// Adds a join and returns its number. Its deadline comes before the caller's own, so that the caller
    /// gets the cause.
    mutating func add(_ join: PendingJoin, timeout: Duration, now: UInt64) -> UInt64 {
        last += 1
        joins[last] = join
        deadlines.set(now + timeout.milliseconds * 3 / 4, for: last)
        return last
    }

    mutating func finish(_ number: UInt64) -> PendingJoin? {
        deadlines.set(nil, for: number)
        return joins.removeValue(forKey: number)
    }

    /// Takes out a join whose deadline has come, or returns nil when there is none.
    mutating func takeTimedOut(now: UInt64) -> PendingJoin? {
        while let number = deadlines.popDue(now: now) {
            if let join = joins.removeValue(forKey: number) { return join }
        }
        return nil
    }
}
