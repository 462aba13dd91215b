import Foundation
import RTMTestSupport

/// How long chaos lasts, and what its chance comes from. `make soak WHAT=chaos` sets both.
enum ChaosSettings {
    /// Whether chaos has its time for itself, so that it may say what it did.
    static var isLong: Bool { ProcessInfo.processInfo.environment["CHAOS_MINUTES"] != nil }

    static var duration: Duration {
        let minutes = ProcessInfo.processInfo.environment["CHAOS_MINUTES"].flatMap(Double.init)
        return minutes.map { .seconds($0 * 60) } ?? .seconds(12)
    }

    static var seed: UInt64 {
        ProcessInfo.processInfo.environment["CHAOS_SEED"].flatMap(UInt64.init)
            ?? UInt64.random(in: 0...UInt64.max)
    }

    /// Tells the one who waits for it what was done.
    static func report(_ text: String) {
        guard isLong else { return }
        FileHandle.standardError.write(Data("chaos: \(text)\n".utf8))
    }
}
