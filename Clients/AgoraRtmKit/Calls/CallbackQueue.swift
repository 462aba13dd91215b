import NIOConcurrencyHelpers
import RTMClient

/// The queue on which the app's code is called, one piece after the other.
final class CallbackQueue: Sendable {
    /// Hands an event, or what was dropped, to the delegates.
    typealias Delivery = @Sendable (CallbackBuffer.Next) -> Void

    /// Limit: how much is done at once before other users of the queue have their turn. The main queue also
    /// draws the app.
    private static let turnMax = 32

    private struct Contents {
        var buffer = CallbackBuffer()
        /// A turn is queued or runs.
        var isScheduled = false
        var deliver: Delivery?
    }

    private let queue: DispatchQueue
    private let contents = NIOLockedValueBox(Contents())

    /// The queue is serial, even if the app's queue is a concurrent one.
    ///
    /// - Parameter target: nil means the main queue.
    init(target: DispatchQueue?) {
        queue = DispatchQueue(label: "AgoraRtmKit.callbacks", target: target ?? .main)
    }

    /// Says who takes the events. It is called once, before the first event.
    func setDelivery(_ deliver: @escaping Delivery) { contents.withLockedValue { $0.deliver = deliver } }

    func append(_ block: @escaping CallbackBuffer.Block) {
        schedule { $0.buffer.append(block) }
    }

    func append(_ event: RTMEvent) {
        schedule { $0.buffer.append(event) }
    }

    private func schedule(_ change: (inout Contents) -> Void) {
        let isDue = contents.withLockedValue { contents in
            change(&contents)
            defer { contents.isScheduled = true }
            return !contents.isScheduled
        }
        if isDue { queue.async { self.takeTurn() } }
    }

    private func takeTurn() {
        for _ in 0..<Self.turnMax {
            guard let (next, deliver) = takeNext() else { return }
            switch next {
            case .block(let block): block()
            case .event, .loss: deliver?(next)
            }
        }
        queue.async { self.takeTurn() }
    }

    /// Returns nil if nothing is to be done, and the turn ends.
    private func takeNext() -> (CallbackBuffer.Next, Delivery?)? {
        contents.withLockedValue { contents in
            guard let next = contents.buffer.next() else {
                contents.isScheduled = false
                return nil
            }
            return (next, contents.deliver)
        }
    }
}
