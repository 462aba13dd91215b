import NIOCore

/// Keeps the order of a session's publishes when some of them were refused for the moment, because messaging
/// was lost or away (M-25).
///
/// Those that the client sent behind them, before it heard of the refusal, may arrive when messaging is back.
/// If they got through, the log would refuse the earlier ones as late. So they are refused for the moment,
/// too, until the client, which repeats them in order, has come to the earliest one again. A client that
/// doesn't repeat it is waited for only for as long as an answer and a request can be under way.
struct PublishBarrier {
    static let timeout: TimeAmount = .seconds(2)

    /// Of the earliest one that was refused; 0 = nothing is awaited.
    private var awaited: UInt64 = 0
    private var until = NIODeadline.distantPast

    /// A publish that can be sent again was refused for the moment. Those behind the awaited one don't
    /// prolong the time: else a client that doesn't repeat it would be refused for ever.
    mutating func refused(_ sequence: UInt64, now: NIODeadline) {
        guard awaited == 0 || sequence <= awaited || now >= until else { return }
        awaited = sequence
        until = now + Self.timeout
    }

    /// Whether a publish may pass: nothing that was refused has to come before it.
    mutating func admits(_ sequence: UInt64, now: NIODeadline) -> Bool {
        guard awaited != 0, sequence != 0 else { return true }
        guard sequence > awaited, now < until else {
            awaited = 0
            return true
        }
        return false
    }
}
