package import Testing

/// Polls until the condition holds. This is the only place in the tests where time passes by itself.
///
/// It is for conditions that can't be awaited, such as the socket of another process. It fails the test at
/// the deadline.
package func eventually(
    _ what: String, within limit: Duration = .seconds(30), isolation: isolated (any Actor)? = #isolation,
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let limit = limit * timeScale
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("not within \(limit): \(what)", sourceLocation: sourceLocation)
    throw EventuallyTimeout(what: what)
}

/// Lets time pass for tests that put a running system under stress for a while: there the time itself is the
/// test. It is never used to wait for something.
package func letPass(_ duration: Duration) async { try? await Task.sleep(for: duration) }

package struct EventuallyTimeout: Error {
    package let what: String
}
