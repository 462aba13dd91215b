// In which order things happen.
//
// Calls reach the client below in the order in which the app made them, whichever form it used. Completion
// blocks and delegates are called one after the other (S-0a), events in their order; blocks of calls that are
// under way together may end in any order. Two serial queues see to that. On `calls` every call begins and
// ends and the events arrive; nothing of the app's runs there, so it never waits. On `callbacks` the app's
// code runs: what it blocks is only itself.

/// Runs tasks on a serial queue: in the order in which they began, or became ready again.
final class SerialTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Where the app's code is called.
struct CallbackQueue: Sendable {
    private let queue: DispatchQueue

    /// Serial, even if the app's queue is a concurrent one.
    init(target: DispatchQueue?) {
        queue = DispatchQueue(label: "AgoraRtmKit.callbacks", target: target)
    }

    func begin(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Returns when the work is done, so that what comes next waits in a place with a limit.
    func run(_ work: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                work()
                continuation.resume()
            }
        }
    }
}
