// The order in which things happen.
//
// Calls reach the client below in the order in which the app made them, whichever form it used. Completion
// blocks and delegates are called one after the other (S-0a), and events in their order; the blocks of calls
// that are under way together may be called in any order. Two serial queues ensure that. On `calls` every
// call begins and ends and the events arrive; no code of the app runs there, so it never waits. On
// `callbacks` the app's code runs, and it can only block itself.

/// Runs tasks on a serial queue, in the order in which they began or became ready again.
final class SerialTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// The queue on which the app's code is called.
struct CallbackQueue: Sendable {
    private let queue: DispatchQueue

    /// The queue is serial, even if the app's queue is a concurrent one.
    init(target: DispatchQueue?) {
        queue = DispatchQueue(label: "AgoraRtmKit.callbacks", target: target)
    }

    func begin(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Returns when the work is done, so that the next event waits in a place with a limit.
    func run(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                work()
                continuation.resume()
            }
        }
    }
}
