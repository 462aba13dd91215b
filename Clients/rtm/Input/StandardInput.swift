import Dispatch
import Foundation
import RTMClient

/// Standard input for tasks. It is read only when a task waits for it, on a thread of its own, and the wait
/// can be cancelled.
final class StandardInput: Sendable {
    private static let chunkBytes = 4096

    var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    private let queue = DispatchQueue(label: "rtm.standard-input")
    private let wakeUp: (read: Int32, write: Int32)

    /// - Throws: `.initServiceFailed` (-10007) when the process has no file descriptors left.
    init() throws(RTMError) {
        var descriptors: [Int32] = [-1, -1]
        guard pipe(&descriptors) == 0 else {
            throw RTMError(
                .initServiceFailed, "there are too many open files to make a pipe", operation: "init")
        }
        wakeUp = (descriptors[0], descriptors[1])
    }

    deinit {
        close(wakeUp.read)
        close(wakeUp.write)
    }

    /// Gives some bytes, or nil at the end of the input. Once its task is cancelled it gives nil for ever.
    func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: self.read()) }
            }
        } onCancel: {
            // The byte is never read, so every later wait ends, too.
            _ = write(wakeUp.write, [0], 1)
        }
    }

    private func read() -> [UInt8]? {
        var waits = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            if poll(&waits, 2, -1) < 0 {
                guard errno == EINTR else { return nil }
                continue
            }
            if waits[1].revents != 0 { return nil }
            var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
            let count = Foundation.read(STDIN_FILENO, &chunk, chunk.count)
            if count > 0 { return Array(chunk.prefix(count)) }
            guard count < 0, errno == EINTR || errno == EAGAIN else { return nil }
        }
    }
}
