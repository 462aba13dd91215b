@testable import RTMStorageServer

extension WriteOutcome {
    /// What the last call of the group was answered with; nil if it was refused.
    func answer<Answer: StorageAnswer>(_: Answer.Type) -> Answer? { answers.last?.answer() }
}

extension WriteOutcome.Answered {
    func answer<Answer: StorageAnswer>() -> Answer? { (try? result.get()) as? Answer }
}
