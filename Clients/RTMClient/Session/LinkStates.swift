import RTMModel

/// The states of a client's link, for as many consumers as there are. See ``RTMClient/linkStates``.
public struct LinkStates: AsyncSequence, Sendable {
    public typealias Element = LinkState
    public typealias Failure = Never

    let hub: EventHub

    public func makeAsyncIterator() -> Iterator {
        let (consumer, present) = hub.makeLinkStateConsumer()
        return Iterator(consumer: consumer, present: present)
    }

    /// Goes through the states.
    public struct Iterator: AsyncIteratorProtocol {
        private let consumer: EventConsumer
        /// The state when the iterator was made.
        private let present: LinkState
        /// What was returned last.
        private var last: LinkState?

        init(consumer: EventConsumer, present: LinkState) {
            self.consumer = consumer
            self.present = present
        }

        /// Returns the present state at first, and later waits for another one. Returns `nil` after
        /// `close()`, and when the task is cancelled.
        public mutating func next() async -> LinkState? {
            guard let last else { return returned(newestUnread ?? present) }
            while let event = await consumer.next() {
                if case .linkState(let change) = event, change.currentState != last {
                    return returned(change.currentState)
                }
            }
            return nil
        }

        /// Returns the present state at first, and later waits for another one. Returns `nil` after
        /// `close()`, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> LinkState? {
            await next()
        }

        private var newestUnread: LinkState? {
            var newest: LinkState?
            while let event = consumer.takeIfReady() {
                if case .linkState(let change) = event { newest = change.currentState }
            }
            return newest
        }

        private mutating func returned(_ state: LinkState) -> LinkState {
            last = state
            return state
        }
    }
}

extension RTMClient {
    /// The state of the link: the present one at once, then each other one.
    ///
    /// ```swift
    /// for await state in client.linkStates { isOnline = state == .connected }
    /// ```
    ///
    /// Each loop begins with the state of that moment. The same state doesn't come twice in a row. A loop
    /// that is slower than the link gets the newest state, and what was between is left out, so that it never
    /// shows an old one (S-23). Why a state was entered is in the event ``RTMEvent/linkState(_:)``, of which
    /// ``events(buffering:)`` has every one. The sequence ends after `close()` and when the client is
    /// released.
    public var linkStates: LinkStates { LinkStates(hub: hub) }
}
