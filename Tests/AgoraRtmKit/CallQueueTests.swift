import RTMTestSupport
import Synchronization
import Testing

@testable import AgoraRtmKit

/// The queues that keep calls in their order (see CallQueues.swift).
@Suite("Queues of a client", .ends(withinMinutes: 1))
struct CallQueueTests {
    @Test("tasks begin in the order in which they were made, and one at a time")
    func beginning() async {
        let executor = SerialTaskExecutor(label: "test")
        let numbers = Mutex<[Int]>([])
        let tasks = (0..<1000).map { number in
            Task(executorPreference: executor) { @Sendable in numbers.withLock { $0.append(number) } }
        }
        for task in tasks { await task.value }
        #expect(numbers.withLock { $0 } == Array(0..<1000))
    }

    @Test("a task comes back to its executor after waiting for something else")
    func comingBack() async {
        let executor = SerialTaskExecutor(label: "test")
        let callbacks = CallbackQueue(target: nil)
        let isRunning = Mutex(false)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask(executorPreference: executor) { @Sendable in
                    await callbacks.run {}
                    #expect(isRunning.withLock { $0 } == false)
                    isRunning.withLock { $0 = true }
                    isRunning.withLock { $0 = false }
                }
            }
        }
    }

    @Test("the app's code runs one after the other, also on a concurrent queue of the app")
    func concurrentTarget() async {
        let callbacks = CallbackQueue(target: DispatchQueue(label: "app", attributes: .concurrent))
        let numbers = Mutex<[Int]>([])
        for number in 0..<1000 { callbacks.begin { numbers.withLock { $0.append(number) } } }
        await callbacks.run {}
        #expect(numbers.withLock { $0 } == Array(0..<1000))
    }
}
