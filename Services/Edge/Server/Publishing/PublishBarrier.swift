import NIOCore

/// Keeps the order of a session's publishes when some of them were refused for the moment, because the shard
/// of their channel was lost or away (M-25). Those to other shards pass meanwhile: each channel has an order
/// of its own, and lies in one shard.
struct PublishBarriers {
    /// By shard. Almost always there is none.
    private var barriers: [Int: PublishBarrier] = [:]

    var isEmpty: Bool { barriers.isEmpty }

    mutating func refused(_ sequence: UInt64, in shard: Int, pause: TimeAmount, now: NIODeadline) {
        barriers[shard, default: PublishBarrier()].refused(sequence, pause: pause, now: now)
    }

    /// How long a publish has to wait, because a refused one has to come before it; nil if it may pass.
    mutating func wait(of sequence: UInt64, in shard: Int, now: NIODeadline) -> TimeAmount? {
        guard let wait = barriers[shard]?.wait(of: sequence, now: now) else {
            if barriers[shard]?.isOpen == true { barriers[shard] = nil }
            return nil
        }
        return wait
    }
}

/// Keeps the order of a session's publishes to one shard.
///
/// Publishes that the client sent behind them, before it got the refusal, may arrive when messaging is
/// back. If they got through, the log would refuse the earlier ones as late. So they are refused for the
/// moment as well, until the client, which repeats all of them in order, has come to the earliest one again.
/// The barrier waits for that only as long as an answer and a request can be under way.
struct PublishBarrier {
    static let timeout: TimeAmount = .seconds(2)
    /// The awaited one may be on its way.
    private static let waitMin: TimeAmount = .milliseconds(20)

    /// The sequence of the earliest publish that was refused; 0 if none is awaited.
    private var awaited: UInt64 = 0
    private var until = NIODeadline.distantPast
    /// When the client comes with it again.
    private var returnsAt = NIODeadline.distantPast

    /// Whether no publish is awaited.
    var isOpen: Bool { awaited == 0 }

    /// A publish that can be sent again was refused for the moment. Publishes behind the awaited one don't
    /// prolong the time, or a client that doesn't repeat that one would be refused for ever.
    ///
    /// - Parameter pause: after which the client was asked to send it again.
    mutating func refused(_ sequence: UInt64, pause: TimeAmount, now: NIODeadline) {
        guard awaited == 0 || sequence <= awaited || now >= until else { return }
        awaited = sequence
        returnsAt = now + pause
        until = returnsAt + Self.timeout
    }

    /// How long a publish has to wait, because a refused one has to come before it; nil if it may pass.
    mutating func wait(of sequence: UInt64, now: NIODeadline) -> TimeAmount? {
        guard awaited != 0, sequence != 0 else { return nil }
        guard sequence > awaited, now < until else {
            awaited = 0
            return nil
        }
        return max(returnsAt - now, Self.waitMin)
    }
}
