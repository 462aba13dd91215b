// Requests whose answer concerns nobody but the caller: the one way to add a kind of call.
//
// Such a call is an `Operation` (its name, and its error codes), the body of the request, and a closure that
// finds the result in the answer's body:
//
//     try await call(.whereNow, .whereNow(request)) { body in
//         guard case .userChannels(let answer) = body else { return nil }
//         return answer.channels.map { … }
//     }
//
// Refusals, time, cancellation, and a connection that is missing or lost are the same for all of them. What
// also changes something in the link (a subscription) has a case of its own in `RequestTable.Request`.

import RTMModel
import RTMProtocol

typealias ClientBody = Rtm_Client_ClientFrame.OneOf_Body
typealias ServerBody = Rtm_Client_ServerFrame.OneOf_Body

/// The waiting end of such a call. Who takes it out of the request table uses it, once.
struct ServerCall {
    let operation: Operation
    private let complete: (Result<ServerBody, RTMError>) -> Void

    /// - Parameter answer: nil for a body that is no answer to this request.
    init<Answer>(_ completion: Completion<Answer>, answer: @escaping (ServerBody) -> Answer?) {
        operation = completion.operation
        complete = { result in
            switch result {
            case .success(let body):
                guard let answer = answer(body) else {
                    let code = completion.operation.codes.failed
                    return completion.fail(code, "the server's answer doesn't fit the request")
                }
                completion.succeed(answer)
            case .failure(let error):
                completion.fail(error)
            }
        }
    }

    /// A request that the link makes for itself; also the answer's fitting is its own matter.
    init(_ operation: Operation, complete: @escaping (Result<ServerBody, RTMError>) -> Void) {
        self.operation = operation
        self.complete = complete
    }

    func answered(_ body: ServerBody) {
        if case .error(let error) = body {
            fail(RTMError(error, unknownCode: operation.codes.refused))
        } else {
            complete(.success(body))
        }
    }

    func fail(_ error: RTMError) { complete(.failure(error)) }
}

/// How long an answer is waited for.
enum AnswerTime {
    /// `Configuration.requestTimeout`.
    case usual
    /// As long as the connection lives: the server answers when the time has come.
    case unlimited
}

extension Link {
    /// On the event loop: sends the request, unless there is no connection (S-8).
    func call<Answer>(
        _ completion: Completion<Answer>, _ body: ClientBody, within time: AnswerTime = .usual,
        answer: @escaping (ServerBody) -> Answer?
    ) {
        guard isReady(for: completion) else { return }
        request(completion, .call(ServerCall(completion, answer: answer)), within: time) { $0.body = body }
    }
}

extension Link {
    /// For the link itself, on the present connection.
    func internalCall(
        _ operation: Operation, _ body: ClientBody,
        complete: @escaping (Result<ServerBody, RTMError>) -> Void
    ) {
        let id = requestIDs.next()
        let deadline = now + configuration.requestTimeout
        requests.add(id, .call(ServerCall(operation, complete: complete)), deadline: deadline)
        send(id) { $0.body = body }
        armTimer(by: deadline)
    }
}

extension RTMClient {
    /// From a task: sends the request and waits for its answer. Names and sizes are the caller's to check.
    func call<Answer: Sendable>(
        _ operation: Operation, _ body: ClientBody, within time: AnswerTime = .usual,
        answer: @escaping @Sendable (ServerBody) -> Answer?
    ) async throws(RTMError) -> Answer {
        try await perform(operation) { link, completion in
            link.call(completion, body, within: time, answer: answer)
        }
    }

    /// The same for a request that is answered by Done.
    func call(_ operation: Operation, _ body: ClientBody) async throws(RTMError) {
        try await call(operation, body) { (body) -> Void? in
            guard case .done = body else { return nil }
            return ()
        }
    }

    /// Throws what the check throws, with the name of the call in it.
    func check(_ operation: Operation, _ check: () throws(RTMError) -> Void) throws(RTMError) {
        do { try check() } catch { throw error.with(operation: operation) }
    }
}
