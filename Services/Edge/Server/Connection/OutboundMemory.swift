import NIOCore
import RTMServiceLink
import RTMWire

/// The memory of one event loop for what waits to be written to its clients. A loop has an equal share of the
/// edge's limit, so no loop asks another one.
///
/// Only a connection whose socket is behind counts here, so a message that a socket takes at once costs
/// nothing. When the share is used up, those that hold the most are cut off until it isn't, and snapshots of
/// big channels can't be had meanwhile.
final class OutboundMemory: Flushable {
    private var budget: UnreadBudget
    private let sessions: Sessions
    private let metrics: EdgeMetrics
    private let endOfTurn: EndOfTurn
    private var isScheduled = false

    init(bytesMax: Int, sessions: Sessions, metrics: EdgeMetrics, endOfTurn: EndOfTurn) {
        budget = UnreadBudget(bytesMax: bytesMax)
        self.sessions = sessions
        self.metrics = metrics
        self.endOfTurn = endOfTurn
    }

    var bytes: Int { budget.bytes }
    var isOver: Bool { budget.isOver }

    func change(by change: Int) {
        budget.change(by: change)
        metrics.outboundBytesChanged(by: change)
        guard change > 0, budget.isOver, !isScheduled else { return }
        isScheduled = true
        endOfTurn.schedule(self)
    }

    func flushAtEndOfTurn() {
        isScheduled = false
        guard budget.isOver else { return }
        let holders = sessions.all.map { (key: $0.key, bytes: $0.connection?.waitingBytes ?? 0) }
        for key in UnreadBudget.largestFirst(holders) {
            guard !budget.isRelieved else { return }
            sessions[key]?.connection?.cutOff(.usedUp(bytesMax: budget.bytesMax))
        }
    }
}

/// Memory that several sessions of a loop wait for. It counts once, for as long as one of them holds it.
final class OutboundCharge {
    private let bytes: Int
    private let memory: OutboundMemory
    private let share: SharedMemory.Share?

    /// - Parameter share: of the app's memory for pages, which is held as long.
    init(_ bytes: Int, to memory: OutboundMemory, _ share: SharedMemory.Share?) {
        self.bytes = bytes
        self.memory = memory
        self.share = share
        memory.change(by: bytes)
    }

    deinit { memory.change(by: -bytes) }
}

extension Disconnect {
    fileprivate static func usedUp(bytesMax: Int) -> Disconnect {
        Disconnect(
            .slowConsumer,
            "clients that read slowly hold all of the \(bytesMax) bytes that the server has for them, and "
                + "you hold the most; read faster, or subscribe to less", retryAfter: .seconds(5))
    }
}
