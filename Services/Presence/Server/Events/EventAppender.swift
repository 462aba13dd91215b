import NIOCore
import RTMMessagingClient
import RTMModel
import RTMServiceLink
import RTMWire

/// Appends the store's events to the logs of their channels, and knows how far the logs are.
final class EventAppender {
    /// What messaging was asked to do.
    enum Append {
        case event(EventOutbox.Append)
        /// Report the position of the channel's log.
        case head(ChannelKey)
    }

    let messaging: MessagingAppender
    /// What messaging has not answered yet.
    private var pending = RequestContexts<Append>()
    private var outbox = EventOutbox()
    /// By channel: the log position of the last event that this node has appended. For an idle channel the
    /// position is asked for again.
    var positions = GenerationalCache<ChannelKey, StreamPosition>(lifetime: 3_600_000)
    /// Channels whose roster is gone while their events are on their way.
    private var emptied: Set<ChannelKey> = []

    init(_ messaging: MessagingAppender) { self.messaging = messaging }

    /// Whether events of the channel can be appended.
    func isUp(_ channel: ChannelKey) -> Bool { messaging.isUp(channel) }
    /// How many events wait for messaging.
    var count: Int { outbox.count }

    func last(of channel: ChannelKey) -> UInt64? { outbox.last(of: channel) }

    /// Behaves as `EventOutbox.check` does.
    func check(_ limit: Backlog, for channel: ChannelKey) throws(RTMError) {
        try outbox.check(limit, for: channel)
    }

    /// Behaves as `EventOutbox.wait` does.
    func wait(_ waiter: EventOutbox.Waiter, for channel: ChannelKey, through: UInt64) -> Bool {
        outbox.wait(waiter, for: channel, through: through)
    }

    func add(_ change: NumberedEvents, to channel: ChannelKey) {
        outbox.add(change, to: channel)
        if change.isEmpty { emptied.insert(channel) } else { emptied.remove(channel) }
        forgetIfOver(channel)
        sendNext(of: channel)
    }

    func sendWaiting() {
        guard messaging.isPartlyUp else { return }
        for channel in outbox.waiting { sendNext(of: channel) }
    }

    /// Asks for the position of the channel's log: an append without events only returns it.
    func askForHead(of channel: ChannelKey) throws(RTMError) {
        try append(AppendRequest(channel: channel, source: 0, events: EventRun()), .head(channel))
    }

    private func append(_ request: AppendRequest, _ append: Append) throws(RTMError) {
        let context = pending.insert(append)
        do throws(RTMError) {
            try messaging.append(request, context: context)
        } catch {
            _ = pending.remove(context)
            throw error
        }
    }

    /// The append that messaging has answered.
    func answered(_ context: Int) -> Append { pending.remove(context) }

    func failed(_ channel: ChannelKey) { outbox.failed(channel) }

    /// The channel's first event is in the log, or never will be. Sends the next one, and returns the waiters
    /// that waited for the first.
    func settled(_ channel: ChannelKey) -> [EventOutbox.Waiter] {
        let ready = outbox.settled(channel)
        forgetIfOver(channel)
        sendNext(of: channel)
        return ready
    }

    /// Forgets the position of a channel without a roster: nobody will ask for it.
    private func forgetIfOver(_ channel: ChannelKey) {
        guard emptied.contains(channel), outbox.last(of: channel) == nil else { return }
        emptied.remove(channel)
        positions[channel] = nil
    }

    private func sendNext(of channel: ChannelKey) {
        guard messaging.isUp(channel), let append = outbox.next(of: channel) else { return }
        do throws(RTMError) {
            try send(append)
        } catch {
            // The next sweep tries again.
            outbox.failed(channel)
        }
    }

    private func send(_ append: EventOutbox.Append) throws(RTMError) {
        var run = ByteBuffer()
        append.event.event.eventField.withUnsafeReadableBytes { event in
            append.event.user.withWireText { user in
                EventRun.append(
                    AppendedEvent(
                        publisher: user, publisherSession: append.event.exceptSession, feature: .presence,
                        event: WireText(event), sequence: append.sequence), to: &run)
            }
        }
        let outcome = run.withUnsafeReadableBytes { run in
            Result { () throws(RTMError) in
                try self.append(
                    AppendRequest(channel: append.channel, source: append.source, events: EventRun(run)),
                    .event(append))
            }
        }
        try outcome.get()
    }
}
