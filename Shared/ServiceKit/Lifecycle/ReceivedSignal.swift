internal import Dispatch
internal import Foundation

/// A signal of the process that is heard, and doesn't do what it does by default.
struct ReceivedSignal: Sendable {
    // Safety: a dispatch source may be used from every thread; only its protocol doesn't say so.
    private nonisolated(unsafe) let source: any DispatchSourceSignal

    /// Returns when the signal is heard. The source is set up on another thread, and a signal that comes
    /// before that is lost.
    init(_ number: Int32, handler: @escaping @Sendable () -> Void) async {
        // The default action would end the process before the source gets the signal.
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: handler)
        await withCheckedContinuation { isHeard in
            source.setRegistrationHandler { isHeard.resume() }
            source.resume()
        }
        self.source = source
    }

    func cancel() { source.cancel() }
}
