@testable import RTMStorageServer

extension WriteOutcome {
    /// What the last call of the group was answered with; nil if it was refused.
    func answer<Answer: StorageAnswer>(_: Answer.Type) -> Answer? { answers.last?.answer() }

    /// Whether memory was thrown away, and what the store has was taken for true.
    var hasBegun: Bool { tenure.contains { if case .began = $0 { true } else { false } } }

    /// The term that has begun with it, if one has.
    var term: UInt64? {
        tenure.compactMap { if case .began(let term) = $0 { term } else { nil } }.last
    }
}

extension WriteOutcome.Answered {
    func answer<Answer: StorageAnswer>() -> Answer? { (try? result.get()) as? Answer }
}
