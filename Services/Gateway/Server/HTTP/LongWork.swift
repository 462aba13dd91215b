import RTMModel
import RTMServiceLink
import Synchronization

/// Long pieces of work, such as decoding a long body, which would hold up an event loop. A few are done at a
/// time, and the apps have their turns, so that one app's work delays that of another by one piece.
final class LongWork: Sendable {
    private struct State {
        var running = 0
        var waiting = FairQueue<CheckedContinuation<Int?, Never>>()
    }

    /// Limit: bytes of a body or an answer that is dealt with on the event loop. The longest take half a
    /// second, in which the loop would serve nobody else.
    static let loopBytesMax = 32 * 1024

    private let atOnceMax: Int
    private let state = Mutex(State())

    /// - Parameter atOnceMax: half of the processors, so that there are some for all other work.
    init(atOnceMax: Int) { self.atOnceMax = atOnceMax }

    /// Does the work apart from the event loop if it is about so many bytes, and at once if it is short.
    func run<Value: Sendable>(
        bytes: Int, for client: APIClient, _ body: @Sendable () throws -> Value
    ) async throws -> Value {
        guard bytes > Self.loopBytesMax else { return try body() }
        try await begin(client)
        defer { ended() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await Self.apart(body) }
    }

    @concurrent private static func apart<Value: Sendable>(
        _ body: @Sendable () throws -> Value
    ) async throws -> Value { try body() }

    private enum Turn {
        case now, later
        case refused(Int)
    }

    private func begin(_ client: APIClient) async throws(RTMError) {
        let waitingMax = await withCheckedContinuation { (continuation: CheckedContinuation<Int?, Never>) in
            let turn = state.withLock { state -> Turn in
                guard state.running >= atOnceMax else {
                    state.running += 1
                    return .now
                }
                let limit = state.waiting.put(continuation, of: client.app, by: client.name)
                return limit.map { .refused($0) } ?? .later
            }
            switch turn {
            case .now: continuation.resume(returning: nil)
            case .later: break
            case .refused(let waitingMax): continuation.resume(returning: waitingMax)
            }
        }
        guard let waitingMax else { return }
        throw RTMError(
            .operationRateExceedLimitation, "too many long bodies and answers wait for their turn",
            retryAfter: .seconds(1), limit: .init(name: "waiting bodies", value: UInt64(waitingMax)))
    }

    private func ended() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.running -= 1 }
            return next
        }
        next?.resume(returning: nil)
    }
}
