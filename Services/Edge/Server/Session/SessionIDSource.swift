import RTMModel

/// Session ids that no other loop of any edge gives out: a random prefix of 40 bits, and a count.
struct SessionIDSource {
    private let prefix: UInt64
    private var count: UInt64 = 0

    init(prefix: UInt64) { self.prefix = prefix << 24 }

    mutating func next() -> SessionID {
        count += 1
        return SessionID(rawValue: prefix &+ count)
    }
}
