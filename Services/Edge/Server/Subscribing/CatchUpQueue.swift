import RTMWire

/// A page of a log that is to be read for a session.
struct PendingRead {
    let id: SubscribeID
    let question: PageQuestion
}

/// What a subscribe of a session reads when the session's turn has come.
enum CatchUpRead {
    /// A page of what it missed.
    case page(PendingRead)
    /// Snapshots that are big, or for which there was no room.
    case snapshots(SubscribeID, SnapshotQuestions)
}

/// Which subscribe of a session may read now. One reads at a time: the pages and snapshots of many subscribes
/// at once would lie in memory until the client reads. Pure.
struct CatchUpTurn {
    private var isTaken = false
    private var waiting: [CatchUpRead] = []

    /// Returns whether the read may begin now. Otherwise it waits for its turn.
    mutating func begin(_ read: CatchUpRead) -> Bool {
        guard isTaken else {
            isTaken = true
            return true
        }
        waiting.append(read)
        return false
    }

    /// A read has ended. Returns the next one, which may begin now.
    mutating func ended() -> CatchUpRead? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        isTaken = false
        return nil
    }
}
