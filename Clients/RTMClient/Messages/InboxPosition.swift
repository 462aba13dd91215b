import RTMModel

/// How far this user's inbox has been seen. The inbox needs no subscription, but like one it continues after
/// a loss of the connection: each message arrives once, and what is lost is reported as a gap (S-19).
///
/// Where messaging keeps no journal, its logs begin anew with each restart, and the old ones are lost.
/// For an inbox in which nothing was ever received that would be a gap in nothing. It isn't reported if
/// nothing can have been accepted for this user that did not reach it: as long as the connection stands what
/// is accepted is sent to it, and from its end in good order on nothing is accepted (M-31, M-38).
struct InboxPosition: Sendable {
    /// `nil` until the first login of a session that the app began.
    private(set) var seen: StreamPosition?
    /// Whether a message has come in this session, or one was lost.
    private var hasHadMessages = false
    /// Whether the connection of the latest login has ended in good order, with all that was sent to it.
    private var hasEndedInOrder = false

    /// Takes the server's answer to a login, and returns what was lost, if anything.
    ///
    /// Without a gap and within one epoch the own position stays, because what lies between is still on its
    /// way.
    mutating func loggedIn(
        _ userID: String, position: StreamPosition, hasGap: Bool
    ) -> GapEvent? {
        defer { hasEndedInOrder = false }
        guard let seen else {
            self.seen = position
            return nil
        }
        guard hasGap || seen.epoch != position.epoch else { return nil }
        return lost(userID, until: position, wasConnected: hasEndedInOrder)
    }

    /// The connection on which the user was logged in has ended with all that was sent to it, because the
    /// server closed it.
    mutating func endedInOrder() { hasEndedInOrder = true }

    /// The server can't continue, because what lay before this position is gone.
    ///
    /// - Parameter wasConnected: whether whatever was accepted for the user has been sent to it.
    /// - Returns: nil if nothing is lost: the log began anew, and the old one had nothing for this user.
    mutating func lost(
        _ userID: String, until position: StreamPosition, wasConnected: Bool
    ) -> GapEvent? {
        defer { seen = position }
        if wasConnected, !hasHadMessages, let seen, seen.epoch != position.epoch { return nil }
        hasHadMessages = true
        return GapEvent(channelType: .user, channelName: userID, lastSeen: seen, continuesAfter: position)
    }

    /// Whether a message is new.
    mutating func accepts(offset: UInt64) -> Bool {
        guard let position = seen, offset > position.offset else { return false }
        seen?.offset = offset
        hasHadMessages = true
        return true
    }

    /// The session ended. The next one begins with what comes then.
    mutating func forget() { self = InboxPosition() }
}
