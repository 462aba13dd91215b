/// Runs all contestants at once. The first that ends decides, by its value or its error. The others are
/// cancelled and waited for, and their results are ignored.
func race<Value: Sendable>(
    _ contestants: (@Sendable () async throws -> Value)...
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for contestant in contestants { group.addTask { try await contestant() } }
        defer { group.cancelAll() }
        return try await group.next()
    }
}
