/// Which contents of one sender in one channel have been delivered. Pure.
///
/// The server delivers what one client publishes in its order, so a counter that was there, or that lies far
/// behind the newest one, belongs to a message that was delivered before. Counters that are left out mean
/// nothing: the sender counts what it sends to all channels together.
struct ReplayWindow: Sendable {
    /// How far behind the newest message one may come.
    static let width: UInt32 = 64

    private var newest: UInt32
    /// Bit n stands for the counter `newest` - n.
    private var seen: UInt64 = 1

    init(first: UInt32) { newest = first }

    /// Whether the content is new. It is remembered.
    mutating func accepts(_ counter: UInt32) -> Bool {
        if counter > newest {
            let step = counter - newest
            seen = step < Self.width ? seen << step | 1 : 1
            newest = counter
            return true
        }
        let age = newest - counter
        guard age < Self.width, seen & 1 << age == 0 else { return false }
        seen |= 1 << age
        return true
    }
}
