import RTMModel

/// How far this user's inbox has been seen. The inbox needs no subscription, but like one it continues after
/// a loss of the connection: each message arrives once, and what is lost is reported as a gap (S-19).
///
/// A new log is a gap also for an inbox in which nothing was ever received (M-38). The client's edge may
/// have been cut off from messaging, or another client of the user may have been logged in meanwhile, so
/// nobody knows whether the old log had something.
struct InboxPosition: Sendable {
    /// `nil` until the first login of a session that the app began.
    private(set) var seen: StreamPosition?

    /// Takes the server's answer to a login, and returns what was lost, if anything.
    ///
    /// Without a gap and within one epoch the own position stays, because what lies between is still on its
    /// way.
    mutating func loggedIn(
        _ userID: String, position: StreamPosition, hasGap: Bool
    ) -> GapEvent? {
        guard let seen else {
            self.seen = position
            return nil
        }
        guard hasGap || seen.epoch != position.epoch else { return nil }
        return lost(userID, until: position)
    }

    /// The server can't continue, because what lay before this position is gone.
    mutating func lost(_ userID: String, until position: StreamPosition) -> GapEvent {
        defer { seen = position }
        return GapEvent(channelType: .user, channelName: userID, lastSeen: seen, continuesAfter: position)
    }

    /// Whether a message is new.
    mutating func accepts(offset: UInt64) -> Bool {
        guard let position = seen, offset > position.offset else { return false }
        seen?.offset = offset
        return true
    }

    /// The session ended. The next one begins with what comes then.
    mutating func forget() { self = InboxPosition() }
}
