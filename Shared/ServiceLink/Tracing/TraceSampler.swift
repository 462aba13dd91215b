import RTMWire

/// Which requests are traced, and by which numbers. Pure: its random numbers follow from the seed.
struct TraceSampler {
    private let perMillion: UInt64
    private var state: UInt64

    init(perMillion: Int, seed: UInt64) {
        self.perMillion = UInt64(clamping: perMillion)
        state = seed
    }

    /// The numbers of a new trace; nil if the request isn't one of those that are traced.
    mutating func trace() -> (high: UInt64, low: UInt64)? {
        guard random() % 1_000_000 < perMillion else { return nil }
        return (random(), random() | 1)
    }

    /// The number of a new span, which is never 0.
    mutating func span() -> UInt64 { random() | 1 }

    /// SplitMix64 (Steele, Lea, Flood 2014): a few instructions, where the system's generator is a call of
    /// the kernel.
    private mutating func random() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
