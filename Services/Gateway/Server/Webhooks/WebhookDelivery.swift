import Foundation
import NIOCore
import RTMModel
import RTMWebhookCall
import RTMWire

/// What a gateway does about one webhook: it claims the reader until it gets it, delivers as its owner
/// (`WebhookQueue`), and claims again when the reader is lost. Pure: it gets the time and the randomness.
///
/// Everything that it asks for as the owner has the term of that ownership, and so have the answers: what was
/// asked for in an earlier term, and is answered only now, changes nothing.
struct WebhookDelivery {
    enum Action: Sendable, Equatable {
        case claim(ClaimReader)
        case read(EventsRequest, term: UInt64)
        case deliver(WebhookRequest, term: UInt64)
        case keep(KeepReader, term: UInt64)
    }

    /// How long a read waits at storage for an event.
    private static let readWait = Duration.seconds(20)
    /// How long at most to wait before a claim that failed is tried again, and for another owner. The first
    /// pause is short: a gateway that starts claims some milliseconds before its link to storage is up.
    private static let claimPauseMax = Duration.seconds(2)
    private static let claimPauseMin = Duration.milliseconds(100)

    let record: WebhookRecord
    let settings: WebhookQueue.Settings
    private let node: String
    private let types: UInt32

    private struct Ownership {
        let term: UInt64
        var queue: WebhookQueue
    }

    /// Nil while this gateway doesn't own the reader.
    private var ownership: Ownership?
    /// When the claim was sent that isn't answered yet.
    private var claimSentAt: WebhookTime?
    /// The pause after the next claim that fails.
    private var claimPause = WebhookDelivery.claimPauseMin
    private var nextClaim = NIODeadline.uptimeNanoseconds(0)
    private var isStopping = false
    /// The earliest alarm that is set and hasn't rung.
    private var alarm: NIODeadline?

    /// - Parameters:
    ///   - record: one that has no problem (`WebhookRecord.problem`).
    ///   - node: names this gateway among all.
    ///   - settings: what the record doesn't say.
    init?(_ record: WebhookRecord, node: String, _ settings: WebhookQueue.Settings) {
        guard let types = record.typeBits else { return nil }
        var settings = settings
        if let batch = record.batch { settings.batchEvents = batch }
        if let parallel = record.parallel { settings.parallel = parallel }
        (self.record, self.node, self.settings, self.types) = (record, node, settings, types)
    }

    // Not inlined: Swift 6.3.1 crashes when it optimises a caller that holds the delivery `inout`.

    /// The term in which this gateway owns the reader; nil if it doesn't.
    @inline(never) var term: UInt64? { ownership?.term }
    /// When the oldest event that isn't delivered happened, in milliseconds since 1970; nil if there is none,
    /// or another gateway owns the reader.
    @inline(never) var oldest: UInt64? { ownership?.queue.oldest }
    /// It was stopped, and has given up what it had.
    @inline(never) var isFinished: Bool { isStopping && ownership == nil && claimSentAt == nil }

    // MARK: - What happened

    /// A claim was answered.
    ///
    /// - Parameter claimed: nil if storage didn't answer, or refused.
    mutating func claimed(_ claimed: ReaderClaimed?, now: WebhookTime) {
        guard let sentAt = claimSentAt else { return }
        claimSentAt = nil
        guard let claimed, claimed.term > 0 else {
            nextClaim = now.uptime + TimeAmount(pause(after: claimed))
            return
        }
        claimPause = Self.claimPauseMin
        let journal = try? JSONDecoder().decode(WebhookJournal.self, from: Data(claimed.state))
        var queue = WebhookQueue(after: claimed.position, journal, settings, now: sentAt)
        if isStopping { queue.stop() }
        ownership = Ownership(term: claimed.term, queue: queue)
    }

    /// How long to wait before the next claim.
    ///
    /// - Parameter claimed: nil if storage didn't answer; otherwise it has another owner.
    private mutating func pause(after claimed: ReaderClaimed?) -> Duration {
        guard let claimed else {
            defer { claimPause = min(claimPause * 2, Self.claimPauseMax) }
            return claimPause
        }
        claimPause = Self.claimPauseMin
        return min(max(claimed.wait, Self.claimPauseMin), Self.claimPauseMax)
    }

    /// - Parameter page: nil if the read failed.
    mutating func received(_ page: EventsResponse?, term: UInt64, now: WebhookTime) {
        guard self.term == term else { return }
        guard let page else {
            ownership?.queue.readFailed(now: now)
            return
        }
        let events = page.events.map { WebhookEvent($0, app: record.app) }
        ownership?.queue.received(events, next: page.next, now: now)
    }

    /// A request of the term was answered, or was not.
    mutating func answered(
        _ id: Int, _ answer: WebhookAnswer, term: UInt64, now: WebhookTime,
        using random: inout some RandomNumberGenerator
    ) {
        guard self.term == term else { return }
        ownership?.queue.answered(id, answer, now: now, using: &random)
    }

    /// - Parameter isKept: whether the term is still that of the owner; nil if storage didn't answer.
    /// - Returns: whether the reader was lost with it, to another gateway or because it was moved.
    @discardableResult
    mutating func kept(_ isKept: Bool?, term: UInt64, now: WebhookTime) -> Bool {
        guard self.term == term else { return false }
        ownership?.queue.kept(isKept, now: now)
        guard let queue = ownership?.queue, queue.isFinished else { return false }
        ownership = nil
        nextClaim = now.uptime
        return queue.isSuperseded
    }

    /// Nothing new is read or sent. When all requests are answered the reader is given up, so that another
    /// gateway needn't wait for the end of the lease.
    mutating func stop() {
        isStopping = true
        ownership?.queue.stop()
    }

    // MARK: - What to do

    /// What is to be done now. Each action is given once, and each is answered once.
    mutating func actions(now: WebhookTime, using random: inout some RandomNumberGenerator) -> [Action] {
        guard let term else { return claim(now: now).map { [$0] } ?? [] }
        let actions = ownership?.queue.actions(now: now, using: &random) ?? []
        return actions.map { action in
            switch action {
            case .read(let position, let limit):
                .read(
                    EventsRequest(
                        appID: record.app, after: position, limit: UInt32(limit), types: types,
                        channelPrefix: record.channels ?? "", wait: Self.readWait), term: term)
            case .deliver(let request): .deliver(request, term: term)
            case .keep(let progress): .keep(keep(progress, term, now: now), term: term)
            }
        }
    }

    /// The alarm that is to be set beside those that are set already; nil if one of them is early enough.
    mutating func nextAlarm(now: WebhookTime) -> NIODeadline? {
        guard let wake = wake(now: now), alarm.map({ wake < $0 }) ?? true else { return nil }
        alarm = wake
        return wake
    }

    /// An alarm rings. One behind an earlier one counts for nothing: if each had the next one set, there
    /// would be more of them with every event.
    ///
    /// - Returns: whether to ask what is to be done.
    mutating func rang(_ deadline: NIODeadline) -> Bool {
        guard alarm == deadline else { return false }
        alarm = nil
        return true
    }

    /// The alarms that were set never ring.
    mutating func forgetAlarms() { alarm = nil }

    /// When to ask again, if nothing happens before; nil if something has to happen first.
    private func wake(now: WebhookTime) -> NIODeadline? {
        if let queue = ownership?.queue { return queue.wake(now: now) }
        return claimSentAt == nil && !isStopping ? nextClaim : nil
    }

    private mutating func claim(now: WebhookTime) -> Action? {
        guard claimSentAt == nil, !isStopping, now.uptime >= nextClaim else { return nil }
        claimSentAt = now
        return .claim(
            ClaimReader(
                appID: record.app, name: record.name, node: node, lease: Duration(settings.lease)))
    }

    private func keep(_ progress: WebhookProgress, _ term: UInt64, now: WebhookTime) -> KeepReader {
        let journal = (try? JSONEncoder().encode(progress.journal)) ?? Data()
        return KeepReader(
            appID: record.app, name: record.name, term: term,
            lease: progress.isLast ? .zero : Duration(settings.lease), position: progress.position,
            state: Array(journal),
            letters: progress.letters.map {
                DeadLetter(
                    position: $0.event.position, timeMilliseconds: now.milliseconds, reason: $0.reason,
                    body: Array($0.event.body.utf8))
            })
    }
}

extension WebhookEvent {
    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    init(_ event: AppEvent, app: String) {
        let body = EventBody(event, app: app)
        // It has texts and numbers alone, which always can be written.
        let bytes = (try? Self.encoder.encode(body)) ?? Data()
        self.init(
            position: event.position, key: body.key, milliseconds: event.timeMilliseconds,
            body: String(decoding: bytes, as: UTF8.self))
    }
}
