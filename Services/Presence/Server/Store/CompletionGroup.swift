import RTMModel

/// Waits for several answers, and completes with the first failure among them.
final class CompletionGroup {
    private var count: Int
    private var failure: RTMError?
    private let done: (Result<Void, RTMError>) -> Void

    init(count: Int, _ done: @escaping (Result<Void, RTMError>) -> Void) {
        self.count = count
        self.done = done
    }

    func finished(_ outcome: Result<Void, RTMError>) {
        if case .failure(let error) = outcome { failure = failure ?? error }
        count -= 1
        if count == 0 { done(failure.map { .failure($0) } ?? .success(())) }
    }
}
