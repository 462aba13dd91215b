// Where an installation of a test lives: one event loop whose time passes only when the test lets it, and one
// seed that every random number comes from.

import NIOCore
import NIOEmbedded

/// Random numbers that can be had again. (SplitMix64.)
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Random numbers of one part of the world. Parts draw from streams of their own: that one of them asks once
/// more must not change what all others do.
final class RandomStream: RandomNumberGenerator {
    private var generator: SeededRandom

    init(seed: UInt64, _ name: String) {
        // FNV-1a: the library's own hashing differs from process to process.
        let hash = name.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        generator = SeededRandom(seed: seed ^ hash)
    }

    func next() -> UInt64 { generator.next() }

    func chance(_ part: Int, in whole: Int) -> Bool { Int.random(in: 0..<whole, using: &generator) < part }

    func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    func share() -> Double { Double.random(in: 0..<1, using: &generator) }

    func milliseconds(_ range: ClosedRange<Int>) -> TimeAmount { .milliseconds(Int64(number(in: range))) }

    func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &generator) }
}

/// The virtual time and the seed.
final class VirtualWorld {
    /// The clock on the wall when a world begins.
    static let startMilliseconds: UInt64 = 1_800_000_000_000

    /// The time of the world at which its wall clock showed this.
    static func time(of timestamp: UInt64) -> Duration { .milliseconds(timestamp - startMilliseconds) }

    let loop = EmbeddedEventLoop()
    let seed: UInt64
    private let start = ContinuousClock.now

    init(seed: UInt64) { self.seed = seed }

    func random(_ name: String) -> RandomStream { RandomStream(seed: seed, name) }

    /// Since the beginning.
    var elapsed: Duration { .nanoseconds(loop.now.uptimeNanoseconds) }

    var utcMilliseconds: UInt64 { Self.startMilliseconds + loop.now.uptimeNanoseconds / 1_000_000 }

    /// The same time for those who ask a clock that can't be made to begin at zero.
    var instant: ContinuousClock.Instant { start + elapsed }

    func pass(_ time: TimeAmount) { loop.advanceTime(by: time) }

    func after(_ delay: TimeAmount, _ task: @escaping () -> Void) {
        loop.scheduleTask(in: delay, task)
    }

    /// What is still scheduled never happens.
    func end() { try? loop.syncShutdownGracefully() }
}
