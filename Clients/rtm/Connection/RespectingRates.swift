import RTMClient

/// Limit: how long one call of a command waits in all because the server says that it came too early.
let waitMax: Duration = .seconds(30)

/// Makes a call, and repeats it when the server answers that it came too early and when to come back. What a
/// server refuses like that had no effect.
///
/// - Parameter heldBack: gets the reason each time the call has to wait.
/// - Returns: what the call returns.
/// - Throws: what the call throws for another reason, or when it was put off for more than 30 seconds.
func respectingRates<Value>(
    _ call: () async throws(RTMError) -> Value, heldBack: (RTMError) async -> Void = { _ in }
) async throws -> Value {
    var waited = Duration.zero
    while true {
        do throws(RTMError) {
            return try await call()
        } catch {
            guard let pause = error.retryAfter, waited + pause <= waitMax else { throw error }
            waited += pause
            await heldBack(error)
            try await Task.sleep(for: pause)
        }
    }
}
