import RTMWire

/// A page of a log that is to be read for a session.
struct PendingRead {
    let id: SubscribeID
    let question: PageQuestion
}

/// Which subscribe of a session may read a page of what it missed. One reads at a time: the pages of many
/// subscribes at once would lie in memory, outside what may wait for a client, until the client reads. Pure.
struct CatchUpTurn {
    private var isTaken = false
    private var waiting: [PendingRead] = []

    /// Returns whether the read may begin now. Otherwise it waits for its turn.
    mutating func begin(_ read: PendingRead) -> Bool {
        guard isTaken else {
            isTaken = true
            return true
        }
        waiting.append(read)
        return false
    }

    /// A read has ended. Returns the next one, which may begin now.
    mutating func ended() -> PendingRead? {
        guard waiting.isEmpty else { return waiting.removeFirst() }
        isTaken = false
        return nil
    }
}
