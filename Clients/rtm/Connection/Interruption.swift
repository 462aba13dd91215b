import Dispatch
import Foundation

/// The signal that this process should end: SIGINT or SIGTERM.
enum Interruption {
    /// Returns at the first signal, or when the task is cancelled. A further signal ends the process at once,
    /// in case the logout hangs, unless it comes within a second: many supervisors signal a process and then
    /// its whole group.
    static func wait() async {
        let (signals, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                continuation.yield()
                DispatchQueue.global().asyncAfter(deadline: .now() + 1) { signal(number, SIG_DFL) }
            }
            source.resume()
            return source
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
