import DequeModule
import RTMModel

/// The messages that the app has given an id, so that it may publish them again (M-42). Pure.
///
/// The server recognises them as those of an outbox, by a number, which is made of the id here. How long ago
/// a message was sent first says whether a log can still know it. Of a message that may have been published,
/// this client remembers it, so that a log which has forgotten the message refuses the repetition. Another
/// client doesn't know the time, and then the log decides by what it has.
struct NamedPublishes {
    typealias Instant = ContinuousClock.Instant

    /// Limit: messages whose first sending is remembered. The oldest are forgotten first.
    static let capacity = 1_024

    private struct Name: Hashable {
        let id: String
        let destination: MessageDestination
    }

    private struct First {
        let sending: PublishRepetition
        /// How many calls were made, without those that have certainly published nothing.
        var calls = 0
    }

    private var firsts: [Name: First] = [:]
    private var order: Deque<Name> = []
    private var calls: [UInt64: Name] = [:]

    /// The app publishes a message with an id.
    ///
    /// - Parameter epoch: that of the inbox; 0 is unknown.
    mutating func begin(
        _ id: String, to destination: MessageDestination, call: UInt64, epoch: UInt64, now: Instant
    ) -> OutboxNumber {
        let name = Name(id: id, destination: destination)
        var first = firsts[name] ?? First(sending: PublishRepetition(firstSentAt: now, epoch: epoch))
        first.calls += 1
        if firsts.updateValue(first, forKey: name) == nil { order.append(name) }
        while order.count > Self.capacity { firsts[order.removeFirst()] = nil }
        calls[call] = name
        return OutboxNumber(id: .init(origin: Self.number(of: id), sequence: 1), again: first.sending)
    }

    /// A call has ended.
    ///
    /// - Parameter isNotDone: whether it has certainly published nothing.
    mutating func ended(_ call: UInt64, isNotDone: Bool = false) {
        guard let name = calls.removeValue(forKey: call), isNotDone else { return }
        firsts[name]?.calls -= 1
        guard firsts[name]?.calls == 0 else { return }
        firsts[name] = nil
        order.removeAll { $0 == name }
    }

    /// Each client makes the same number of the same id. It has 53 bits, which JavaScript reads exactly. The
    /// function is cyrb53, which needs no more than products of 32 bits, and no platform.
    static func number(of id: String) -> UInt64 {
        var (high, low): (UInt32, UInt32) = (0x41C6_CE57, 0xDEAD_BEEF)
        for byte in id.utf8 {
            low = (low ^ UInt32(byte)) &* 2_654_435_761
            high = (high ^ UInt32(byte)) &* 1_597_334_677
        }
        low = (low ^ (low >> 16)) &* 2_246_822_507
        low ^= (high ^ (high >> 13)) &* 3_266_489_909
        high = (high ^ (high >> 16)) &* 2_246_822_507
        high ^= (low ^ (low >> 13)) &* 3_266_489_909
        return max(1, UInt64(high & 0x1F_FFFF) << 32 | UInt64(low))
    }
}
