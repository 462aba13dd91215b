// Requests whose answer concerns nobody but the caller: the one way to add a kind of call.
//
// Such a call is an `Operation` (its name and its error codes), the body of the request, and a closure that
// finds the result in the body of the answer:
//
//     try await call(.whereNow, .whereNow(request)) { body in
//         guard case .userChannels(let answer) = body else { return nil }
//         return answer.channels.map { … }
//     }
//
// A call whose answer also changes something in the link, such as a subscribe, has a type of its own that
// conforms to `Request`.

import RTMModel
import RTMProtocol

/// A call of the app.
struct ServerCall<Answer: Sendable>: Request {
    let completion: Completion<Answer>
    let repetition: ClientBody?
    /// Finds the result in an answer, or returns `nil` if the answer doesn't fit the call.
    let result: (ServerBody) -> Answer?

    var operation: Operation { completion.operation }

    func answered(_ body: ServerBody) -> Bool {
        guard let result = result(body) else { return false }
        completion.succeed(result)
        return true
    }

    func refused(_ error: RTMError) { completion.fail(error) }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        completion.fail(error)
        return nil
    }

    func lost(_ reason: String) { completion.fail(.answerLost(operation, reason)) }
}

/// A call that the link makes for itself.
struct InternalCall: Request {
    let operation: Operation
    let repetition: ClientBody?
    /// The body of an answer may be that of another kind of request.
    let complete: (Result<ServerBody, RTMError>) -> Void

    func answered(_ body: ServerBody) -> Bool {
        complete(.success(body))
        return true
    }

    func refused(_ error: RTMError) { complete(.failure(error)) }

    func givenUp(_ error: RTMError) -> LateAnswer? {
        complete(.failure(error))
        return nil
    }

    func lost(_ reason: String) { complete(.failure(.answerLost(operation, reason))) }
}

extension Requests {
    /// Sends a call of the app, unless there is no connection (S-8).
    func call<Answer>(
        _ completion: Completion<Answer>, _ body: ClientBody, result: @escaping (ServerBody) -> Answer?
    ) {
        guard isReady(for: completion) else { return }
        let call = ServerCall(completion: completion, repetition: body.repetition, result: result)
        send(call, id: completion.id) { $0.body = body }
    }

    /// Sends a call of the link's own on the present connection.
    func call(
        _ operation: Operation, _ body: ClientBody,
        complete: @escaping (Result<ServerBody, RTMError>) -> Void
    ) {
        let call = InternalCall(operation: operation, repetition: body.repetition, complete: complete)
        send(call) { $0.body = body }
    }
}

extension ClientBody {
    /// Requests that read, and those that set or remove a state. Any other may have another effect when it is
    /// sent twice.
    fileprivate var repetition: ClientBody? {
        switch self {
        case .heartbeat, .whoNow, .whereNow, .getState, .setState, .removeState, .getMetadata, .getLocks,
            .getHistory:
            self
        default: nil
        }
    }
}

extension RTMClient {
    /// Sends a call from a task and waits for its answer. The caller has checked names and sizes.
    func call<Answer: Sendable>(
        _ operation: Operation, _ body: ClientBody, result: @escaping @Sendable (ServerBody) -> Answer?
    ) async throws(RTMError) -> Answer {
        try await perform(operation) { link, completion in
            link.requests.call(completion, body, result: result)
        }
    }

    /// Throws what the check throws, with the name of the call in it.
    func check(_ operation: Operation, _ check: () throws(RTMError) -> Void) throws(RTMError) {
        do { try check() } catch { throw error.with(operation: operation) }
    }
}
