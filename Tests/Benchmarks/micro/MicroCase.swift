/// One step that is repeated. Its `init` prepares what isn't counted.
protocol Step {
    /// Performs the step `count` times and returns the sum of the results, so that no step can be optimised
    /// away or fail unnoticed.
    mutating func perform(_ count: Int) throws -> Int
}

struct MicroCase: Sendable {
    let name: String
    /// How often the step is performed between two looks at the clock or the counter.
    let batch: Int
    /// What the step returns each time.
    let outcome: Int
    let make: @Sendable () throws -> any Step

    /// Makes the step in its lasting state: buffers that grow once have grown.
    func prepared() throws -> any Step {
        var step = try make()
        for _ in 0..<Self.warmUpBatches { try runBatch(&step) }
        return step
    }

    func runBatch(_ step: inout any Step) throws {
        let sum = try step.perform(batch)
        guard sum == batch * outcome else {
            throw BenchmarkError("\(name): \(sum) came out instead of \(batch) times \(outcome)")
        }
    }

    /// Returns the best of several rounds, because the rest of the machine disturbed it least.
    func nanoseconds() throws -> Double {
        var step = try prepared()
        let clock = ContinuousClock()
        var best = Duration.seconds(3600)
        for _ in 0..<Self.rounds {
            var batches = 0
            let elapsed = try clock.measure {
                let end = clock.now + Self.round
                while clock.now < end {
                    try runBatch(&step)
                    batches += 1
                }
            }
            best = min(best, elapsed / batches)
        }
        return best / .nanoseconds(1) / Double(batch)
    }

    private static let warmUpBatches = 3
    private static let rounds = 15
    private static let round = Duration.milliseconds(10)
}

struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
