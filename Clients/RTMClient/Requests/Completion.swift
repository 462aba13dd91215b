// The bridge between a waiting task and the event loop. Every call has one completion, which is used exactly
// once (S-0a).

import Atomics
import NIOCore
import RTMModel

/// The one end of a call of the app.
///
/// Exactly one place owns it at a time: first the caller's closure, then a request in the table, or the
/// pending login. Whoever takes it out of there completes it.
struct Completion<Value: Sendable>: Sendable {
    let id: UInt64
    let operation: Operation
    private let caller: Caller
    /// Where the end of the call is written down.
    private var call: FlightRecorder.Call?

    /// Who waits for the end of the call.
    private enum Caller {
        case task(CheckedContinuation<Result<Value, RTMError>, Never>)
        case closure(@Sendable (Result<Value, RTMError>) -> Void)
    }

    init(
        id: UInt64, operation: Operation, continuation: CheckedContinuation<Result<Value, RTMError>, Never>
    ) {
        self.id = id
        self.operation = operation
        caller = .task(continuation)
    }

    /// Makes the completion of a caller on the event loop, who is called back within the turn.
    init(
        id: UInt64, operation: Operation, whenDone: @escaping @Sendable (Result<Value, RTMError>) -> Void
    ) {
        self.id = id
        self.operation = operation
        caller = .closure(whenDone)
    }

    func succeed(_ value: Value) { complete(.success(value)) }

    func fail(_ error: RTMError) { complete(.failure(error.with(operation: operation))) }

    private func complete(_ result: Result<Value, RTMError>) {
        if let call {
            let error: RTMError? = if case .failure(let error) = result { error } else { nil }
            call.ended(operation, error)
        }
        switch caller {
        case .task(let continuation): continuation.resume(returning: result)
        case .closure(let whenDone): whenDone(result)
        }
    }

    func fail(_ code: ErrorCode, _ reason: String) { fail(RTMError(code, reason)) }

    /// Writes down how the call ends.
    func recorded(as call: FlightRecorder.Call?) -> Completion {
        var completion = self
        completion.call = call
        return completion
    }

    /// Notifies the watch of a test environment, if there is one.
    func watched(by watch: (any ClientWatch)?) -> Completion {
        guard let watch else { return self }
        watch.began()
        return Completion(id: id, operation: operation) { result in
            watch.answered()
            self.complete(result)
        }
    }
}

extension Completion where Value == Void {
    func succeed() { succeed(()) }
}

/// Numbers for requests. They are unique within a client and never 0.
final class RequestIDs: Sendable {
    private let last = ManagedAtomic<UInt64>(0)

    func next() -> UInt64 { last.wrappingIncrementThenLoad(ordering: .relaxed) }
}

extension NIOLoopBoundBox where Value: AnyObject {
    /// Runs `start` on the event loop and waits for the completion. A cancellation of the task runs `cancel`
    /// there.
    func perform<Answer: Sendable>(
        _ operation: Operation, id: UInt64,
        start: @escaping @Sendable (Value, Completion<Answer>) -> Void,
        cancel: @escaping @Sendable (Value) -> Void
    ) async throws(RTMError) -> Answer {
        // Remembers that the calling task was cancelled before its call reached the event loop.
        let isCancelled = ManagedAtomic<Bool>(false)
        let result: Result<Answer, RTMError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let completion = Completion<Answer>(id: id, operation: operation, continuation: continuation)
                eventLoop.execute {
                    if isCancelled.load(ordering: .acquiring) {
                        completion.fail(.cancelled(operation, outcome: .notDone))
                    } else {
                        start(self.value, completion)
                    }
                }
            }
        } onCancel: {
            // The flag comes first: either the call's start sees it, or the owner already knows the call.
            isCancelled.store(true, ordering: .releasing)
            eventLoop.execute { cancel(self.value) }
        }
        return try result.get()
    }
}

extension RTMClient {
    /// Runs `start` on the link's event loop and waits for the completion.
    func perform<Answer: Sendable>(
        _ operation: Operation, of subject: WaitingCalls.Subject? = nil,
        _ start: @escaping @Sendable (Link, Completion<Answer>) -> Void
    ) async throws(RTMError) -> Answer {
        let id = requestIDs.next()
        let watch = watch
        defer { watch?.resumed() }
        return try await link.perform(operation, id: id) { link, completion in
            let completion = completion.watched(by: watch).recorded(
                as: link.recorder.begin(on: link.eventLoop))
            link.waitingCalls.start(completion, subject) { start(link, completion) }
        } cancel: {
            $0.cancel(id)
        }
    }
}

extension RTMError {
    /// - Parameter outcome: `nil` if the server may have the call.
    static func cancelled(_ operation: Operation, outcome: Outcome? = nil) -> RTMError {
        RTMError(
            .cancelled, "the task that waited for \(operation.rawValue) was cancelled",
            operation: operation.rawValue, outcome: outcome)
    }

    static let released = RTMError(.instanceAlreadyReleased, "the client is closed")

    func with(operation: Operation) -> RTMError {
        var error = with(operation: operation.rawValue)
        if operation.isReading { error.outcome = .notDone }
        return error
    }

    func with(operation: String) -> RTMError {
        var error = self
        error.operation = operation
        return error
    }
}
