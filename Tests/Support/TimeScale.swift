import Foundation
package import Testing

/// By what tests multiply the time that they give a program: 1, or what `TIME_SCALE` says. Programs that a
/// sanitizer has instrumented take ten times as long.
package let timeScale = ProcessInfo.processInfo.environment["TIME_SCALE"].flatMap { Int($0) } ?? 1

extension Trait where Self == TimeLimitTrait {
    /// The test fails if it isn't at its end after so many minutes.
    package static func ends(withinMinutes minutes: Int) -> Self { .timeLimit(.minutes(minutes * timeScale)) }
}

extension Trait where Self == ConditionTrait {
    /// The test measures the memory of a program. A sanitizer keeps what a program has given back, so under a
    /// sanitizer the test is skipped.
    package static var measuresMemory: Self {
        .enabled(if: timeScale == 1, "a sanitizer keeps what a program has given back")
    }
}
