import RTMClient
import RTMModel
import Synchronization

/// Counts what apps have asked, and what they received and have not taken up yet.
final class AppWatch: ClientWatch {
    private struct State {
        var clients: [WatchedClient] = []
        var living = 0
        var open = 0
        var answered = 0
        /// Readers that did not come back in time; they are not waited for until they have waited again.
        var givenUp: Set<WatchedClient.Reader> = []
    }

    private let state = Mutex(State())
    private let thread: WorldThread
    /// Called on the world's thread when an app received something.
    private let appInformed: @Sendable () -> Void

    init(_ thread: WorldThread, appInformed: @escaping @Sendable () -> Void) {
        self.thread = thread
        self.appInformed = appInformed
    }

    /// Calls that were not answered yet.
    var openCalls: Int { state.withLock { $0.open } }
    var livingClients: Int { state.withLock { $0.living } }

    /// Whether an app is at something that it will be done with soon.
    var isAppBusy: Bool {
        let (clients, answered, open, givenUp) = state.withLock {
            ($0.clients, $0.answered, $0.open, $0.givenUp)
        }
        if answered > 0 { return true }
        // A reader may wait for one of the open calls itself.
        guard open == 0 else { return false }
        return clients.contains { $0.busyReaders.contains { !givenUp.contains($0) } }
    }

    /// Who is busy still is at something else.
    func giveUp() {
        let clients = state.withLock { $0.clients }
        let busy = clients.flatMap(\.busyReaders)
        state.withLock { state in
            state.answered = 0
            state.givenUp = Set(busy)
        }
    }

    /// Ends all sessions, so that no call is left open.
    func closeAll() {
        let clients = state.withLock { state in
            defer { state.clients = [] }
            return state.clients
        }
        for client in clients { client.close() }
    }

    // MARK: ClientWatch

    func joined(_ client: WatchedClient) {
        state.withLock { state in
            state.clients.append(client)
            state.living += 1
        }
        client.attach(EventRecorder(appInformed: appInformed))
    }

    func left(_ client: WatchedClient) {
        state.withLock { state in
            state.clients.removeAll { $0.isSame(as: client) }
            state.living -= 1
        }
        thread.nudge()
    }

    func began() { state.withLock { $0.open += 1 } }

    func answered() {
        state.withLock { state in
            state.open -= 1
            state.answered += 1
        }
        if thread.isCurrent { appInformed() }
    }

    func resumed() {
        state.withLock { $0.answered = max(0, $0.answered - 1) }
        thread.nudge()
    }
}

private struct EventRecorder: EventSink {
    let appInformed: @Sendable () -> Void

    func append(_ event: RTMEvent) { appInformed() }
    func finish() {}
}
