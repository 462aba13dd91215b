import NIOCore
import RTMModel
import RTMWire

/// What apps publish in their own transactions (`heliograph_publish`): the owner takes it out of the inbox,
/// and keeps it as events for messaging, and where that is asked for as history, in the transaction that says
/// how far the inbox is drained. From there on it goes the way of all events, so each message is published
/// once, and after a crash the next owner continues behind the last page that was kept.
///
/// Pages are transactions of their own. So no call of a client fails with one, and a row that can't be kept
/// at all is found by pages that become smaller.
extension StorageWriter {
    /// When `drainInbox` has something to do, on the steady clock; nil where there is nothing to drain.
    var inboxDeadline: UInt64? { transaction.inboxRules != nil && tenure.isKnown ? inboxPace?.due : nil }

    /// For how long a message may have waited that an app has committed, in milliseconds.
    func inboxLag(_ now: StorageNow) -> UInt64 { inboxPace?.lag(now: now.steady) ?? 0 }

    /// Drains one page.
    ///
    /// - Parameter clock: says the time afterwards.
    mutating func drainInbox(now: StorageNow, clock: () -> StorageNow) -> WriteOutcome {
        transaction.now = now
        guard let rules = transaction.inboxRules, let rows = inboxPace?.rows else { return WriteOutcome() }
        var page: InboxPage?
        do throws(StoreFailure) {
            let read = try store.readInbox(rows: rows)
            page = read
            if !read.rows.isEmpty { try keep(read, rules, now) }
            inboxPace?.drained(
                read.rows.count, hasMore: read.hasMore, isUsed: read.isUsed, begin: now.steady,
                now: clock().steady)
        } catch {
            transaction.undo()
            if error.kind.endsKnowledge { forget(error) }
            failed(error, page, clock())
        }
        return takeOutcome()
    }

    /// A message that can't be kept at all must not stop those behind it.
    private mutating func failed(_ failure: StoreFailure, _ page: InboxPage?, _ now: StorageNow) {
        guard failure.kind == .refused, let page, let first = page.rows.first else {
            inboxPace?.failed(now: now.steady)
            transaction.outcome.failure = failure
            return
        }
        if page.rows.count == 1 { inboxRefused = first.id }
        inboxPace?.refused(now: now.steady)
    }

    private mutating func keep(_ page: InboxPage, _ rules: InboxRules, _ now: StorageNow) throws(StoreFailure)
    {
        var keys = GroupKeys(now: now.wall, historyBytesMax: transaction.rules.quotas.historyBytes)
        var kept: [(row: InboxRow, message: StoredMessage?)] = []
        for row in page.rows {
            do throws(RTMError) {
                try check(row, rules)
                kept.append((row, try? row.stored(as: store.source, rules.retention, now)))
            } catch {
                transaction.outcome.inbox.refused.append(
                    .init(id: row.id, channel: row.channel, error: error))
            }
        }
        for message in kept.compactMap(\.message) where keys.historyBytesMax != nil {
            keys.apps.insert(message.channel.appID)
            keys.messages.append(message)
        }
        transaction.group = StoreGroup(try store.read(keys))
        for (row, message) in kept { try publish(row, message) }
        transaction.group.drained(to: page.cursor)
        let changes = transaction.group.changes
        transaction.group = StoreGroup()
        _ = try store.write(changes)
        transaction.outcome.events = changes.events
    }

    private func check(_ row: InboxRow, _ rules: InboxRules) throws(RTMError) {
        guard row.id != inboxRefused else {
            throw RTMError(.storageOperationFailed, "the database refuses to keep it")
        }
        try rules.check(row)
    }

    /// A message that has no room in the history is published all the same, as that of a client is.
    private mutating func publish(_ row: InboxRow, _ message: StoredMessage?) throws(StoreFailure) {
        transaction.outcome.inbox.published += 1
        transaction.queue(row.event, in: row.channel, by: row.publisher, .message)
        guard row.isStored else { return }
        guard let message else {
            transaction.outcome.inbox.notStored += 1
            return
        }
        let hasQuota = transaction.rules.quotas.historyBytes != nil
        if hasQuota {
            let usage = try transaction.group.usage(of: message.channel.appID)
            guard usage.refusal(ofHistory: message.bytes, transaction.rules.quotas) == nil else {
                transaction.outcome.inbox.notStored += 1
                return
            }
        }
        transaction.group.append(message, countsBytes: hasQuota)
        transaction.outcome.inbox.stored += 1
    }
}

/// What has become of the messages of a page.
struct InboxOutcome: Sendable {
    struct Refused: Sendable {
        let id: Int64
        let channel: ChannelKey
        let error: RTMError
    }

    var published = 0
    var stored = 0
    /// Messages that were to be stored, and were only published: their app has no history, or its quota is
    /// full.
    var notStored = 0
    /// Messages that the rules don't let through. Nobody receives them.
    var refused: [Refused] = []
}

extension InboxRow {
    fileprivate var event: ByteBuffer {
        payload.withUnsafeBytes { payload in
            customType.withWireText { customType in
                MessageView(type: type, payload: WireText(payload), customType: customType).eventField
            }
        }
    }

    /// The message as history keeps it; nil if it is not to be stored.
    ///
    /// - Parameter source: nobody can foresee it, so no client can send a message that history takes for this
    ///   one.
    /// - Throws: if the app has no history.
    fileprivate func stored(
        as source: UInt64, _ retention: HistoryRetention, _ now: StorageNow
    ) throws(RTMError) -> StoredMessage? {
        guard isStored else { return nil }
        try retention.check(channel.appID)
        return StoredMessage(
            channel: channel,
            content: HistoryMessage(
                type: type, payload: payload, customType: customType, publisher: publisher,
                timestampMilliseconds: now.wall),
            origin: .init(instance: source, sequence: UInt64(bitPattern: id)),
            expiry: retention.expiry(of: now.wall, app: channel.appID))
    }
}

/// What of the inbox is published from now on.
extension InboxRules: StorageChange {
    var room: StorageRoom { .locks }

    func apply(_ transaction: inout StorageTransaction) -> Result<NoContent, RTMError>? {
        transaction.inboxRules = self
        return nil
    }

    func failed(_ transaction: inout StorageTransaction) { transaction.inboxRules = self }
}
