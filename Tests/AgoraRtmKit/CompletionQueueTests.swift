import RTMClient
import RTMTestSupport
import Synchronization
import Testing

@testable import AgoraRtmKit

/// The queues that keep calls in their order (see CallQueues.swift).
@Suite("Queues of a client", .ends(withinMinutes: 1))
struct CompletionQueueTests {
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
                    await callbacks.finished()
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
        for number in 0..<1000 { callbacks.append { numbers.withLock { $0.append(number) } } }
        await callbacks.finished()
        #expect(numbers.withLock { $0 } == Array(0..<1000))
    }

    @Test("S-0a, M-4: blocks and events share one line, and come in its order")
    func oneLine() async throws {
        let callbacks = CallbackQueue(target: DispatchQueue(label: "app"))
        let received = Mutex<[String]>([])
        callbacks.setDelivery { next in
            if case .event(.overflow(let number)) = next {
                received.withLock { $0.append("event \(number)") }
            }
        }
        for number in 1...3 {
            callbacks.append { received.withLock { $0.append("block \(number)") } }
            callbacks.append(RTMEvent.overflow(dropped: number))
        }
        await callbacks.finished()
        #expect(
            received.withLock { $0 } == ["block 1", "event 1", "block 2", "event 2", "block 3", "event 3"])
    }
}

@Suite("What waits for the app's queue")
struct CallbackBufferTests {
    private func message(_ channel: String, _ text: String = "hi") -> RTMEvent {
        .message(
            MessageEvent(
                channelType: .message, channelName: channel, payload: .text(text), publisher: "bob",
                timestampMilliseconds: 1, offset: 1))
    }

    private func names(_ line: inout CallbackBuffer) -> [String] {
        var names: [String] = []
        while let next = line.next() {
            switch next {
            case .block: names.append("block")
            case .event(.message(let event)): names.append(event.channelName)
            case .event: names.append("event")
            case .loss(let dropped): names.append("lost \(dropped.count) of \(dropped.channels.sorted())")
            }
        }
        return names
    }

    @Test("what comes first goes first")
    func order() {
        var line = CallbackBuffer()
        line.append(message("a"))
        line.append {}
        line.append(message("b"))
        #expect(names(&line) == ["a", "block", "b"])
    }

    @Test("S-25: beyond the limit the oldest events are dropped, named in their place, and no block is")
    func limit() {
        var line = CallbackBuffer(eventsMax: 2)
        line.append {}
        for channel in ["a", "b", "a", "c", "d"] { line.append(message(channel)) }
        line.append {}
        #expect(names(&line) == ["block", "lost 3 of [\"a\", \"b\"]", "c", "d", "block"])
        var bytes = CallbackBuffer(payloadBytesMax: 5)
        for channel in ["a", "b"] { bytes.append(message(channel, "1234")) }
        #expect(names(&bytes) == ["lost 1 of [\"a\"]", "b"])
    }
}

extension CallbackQueue {
    /// Returns when everything before this call is done.
    fileprivate func finished() async {
        await withCheckedContinuation { continuation in append { continuation.resume() } }
    }
}
