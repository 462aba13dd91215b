import Foundation

/// The seeds of generated histories: so many in each run, and SERIES times as many where that is set,
/// as `make nightly` does.
package func series(of count: UInt64) -> Range<UInt64> {
    let factor = ProcessInfo.processInfo.environment["SERIES"].flatMap { UInt64($0) } ?? 1
    return 0..<count * factor
}

/// Random numbers that can be repeated: a failing test names its seed. (SplitMix64.)
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns true in `part` of `whole` cases.
    package mutating func chance(_ part: Int, in whole: Int) -> Bool {
        Int.random(in: 0..<whole, using: &self) < part
    }

    /// Returns numbers of every width with the same probability, and also the ends of the ranges where an
    /// encoding changes.
    package mutating func number() -> UInt64 {
        let number = next() >> UInt64.random(in: 0..<64, using: &self)
        return chance(1, in: 8)
            ? [0, 1, 127, 128, 1 << 31, 1 << 32, .max].randomElement(using: &self) ?? 0 : number
    }

    package mutating func bytes(upTo countMax: Int) -> [UInt8] {
        let count = Int.random(in: 0...countMax, using: &self)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// Returns text with one to four bytes per character, without NUL.
    package mutating func text(upTo countMax: Int) -> String {
        let characters = Array("abcXYZ09 _-~äß€漢字🎈\u{1}\u{10FFFF}")
        let count = Int.random(in: 0...countMax, using: &self)
        return String((0..<count).map { _ in characters.randomElement(using: &self) ?? "?" })
    }
}
