// The order in which things happen.
//
// Calls reach the client below in the order in which the app made them, whichever form it used. All callbacks
// come one after the other (S-0a) and in the order in which it happened: a subscribe
// completes before its snapshots come (M-4). Two serial queues ensure that. On `calls` every call begins and
// ends, and every event arrives; no code of the app runs there, so it never waits. From there both go into
// one buffer, and on the queue of `callbacks` the app's code runs, which can only delay itself.

import RTMClient

/// Runs tasks on a serial queue, in the order in which they began or became ready again.
final class SerialTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs work behind the tasks that are ready by now.
    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}

/// Takes a client's events on its event loop. They pass the queue on which calls end, so they can't overtake
/// the end of a call that came before them.
struct EventArrival: EventSink {
    let calls: SerialTaskExecutor
    let arrived: @Sendable (RTMEvent) -> Void

    func append(_ event: RTMEvent) { calls.run { arrived(event) } }

    func finish() {}
}
