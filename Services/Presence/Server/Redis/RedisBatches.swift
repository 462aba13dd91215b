import RTMModel
import RTMRedis

/// Work on the elements of a reply, some at a time.
enum RedisBatches {
    typealias Completion = (Result<Void, RTMError>) -> Void

    /// Does something for every element of a reply, `atOnce` elements at a time. Completes when all are done
    /// or one has failed.
    static func forEach<Element>(
        _ outcome: Result<RedisReply, RedisFailure>, _ parse: (RedisReply) -> Element?, atOnce: Int = .max,
        _ done: @escaping Completion, _ body: @escaping (Element, @escaping Completion) -> Void
    ) {
        switch outcome {
        case .failure(let failure): done(.failure(RTMError(failure)))
        case .success(let reply):
            forEach((reply.elements ?? []).compactMap(parse)[...], atOnce: atOnce, done, body)
        }
    }

    /// Does something for every element, `atOnce` elements at a time.
    static func forEach<Element>(
        _ elements: ArraySlice<Element>, atOnce: Int = .max, _ done: @escaping Completion,
        _ body: @escaping (Element, @escaping Completion) -> Void
    ) {
        let turn = elements.prefix(atOnce)
        let rest = elements.dropFirst(turn.count)
        let all = CompletionGroup(count: turn.count + 1) { outcome in
            guard case .success = outcome, !rest.isEmpty else { return done(outcome) }
            forEach(rest, atOnce: atOnce, done, body)
        }
        for element in turn { body(element, all.finished) }
        all.finished(.success(()))
    }
}
