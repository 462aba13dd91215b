public import Foundation
import NIOCore

extension TestWorld {
    /// How long the world has been there, in its own time.
    public var elapsed: Duration {
        get async { await run { [begin] in $0.world.elapsed - begin } }
    }

    /// What a clock on the wall shows in this world.
    public var date: Date {
        get async {
            await run { Date(timeIntervalSince1970: Double($0.world.utcMilliseconds) / 1_000) }
        }
    }

    /// Lets time pass, with everything that is due on the way. It returns when the app has acted on what it
    /// received.
    public func advance(by time: Duration) async {
        await runInTurn { $0.advance(by: TimeAmount(time)) }
    }

    /// Lets time pass until something is so.
    ///
    /// - Parameters:
    ///   - limit: how long at most.
    ///   - step: after how much time it is looked at again.
    ///   - condition: what is to be so.
    /// - Returns: whether it is so.
    public func advance(
        upTo limit: Duration, step: Duration = .milliseconds(100), until condition: () async throws -> Bool
    ) async rethrows -> Bool {
        var passed = Duration.zero
        await advance(by: .zero)
        while try await !condition() {
            guard passed < limit else { return false }
            await advance(by: min(step, limit - passed))
            passed += step
        }
        return true
    }
}
