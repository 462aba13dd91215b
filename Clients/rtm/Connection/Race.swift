/// Runs all contestants at once; the first that ends decides, by its value or its error. The others are
/// cancelled and waited for, and what becomes of them is of no interest.
func race<Value: Sendable>(
    _ contestants: (@Sendable () async throws -> Value)...
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for contestant in contestants { group.addTask { try await contestant() } }
        defer { group.cancelAll() }
        return try await group.next()
    }
}
