import Foundation
import RTMTestSupport
import Testing

@testable import RTMServiceKit

/// A program reports its start once it receives its signals. One that comes right after that counts.
@Suite("Signals that a program hears", .serialized)
struct ReceivedSignalTests {
    @Test(
        "a signal that comes right behind the set-up is heard",
        arguments: [SIGUSR1, SIGUSR2, SIGURG, SIGWINCH])
    func atOnce(_ number: Int32) async throws {
        let count = Shared(0)
        let received = await ReceivedSignal(number) { count.withLock { $0 += 1 } }
        kill(getpid(), number)
        try await eventually("the signal is heard") { count.present > 0 }
        received.cancel()
    }
}
