import NIOCore
import RTMModel

/// The named reader of a webhook at storage, as its owner sees it: the position that storage has, what is
/// kept next, and until when the ownership lasts.
struct WebhookReader {
    private static let keepInterval = TimeAmount.milliseconds(500)

    private let lease: TimeAmount
    private var leaseEnd: NIODeadline
    /// The position that storage has.
    private(set) var position: StreamPosition
    /// The position that storage was asked to keep last, and may have although it hasn't answered.
    private var asked: StreamPosition
    private(set) var journal: WebhookJournal
    /// Dead letters that storage doesn't have yet.
    private var letters: [WebhookProgress.Letter] = []
    private var keeping: WebhookProgress?
    private var keepBegan: NIODeadline
    private var nextKeep: NIODeadline
    /// Whether the journal has what storage doesn't have yet.
    private var hasNews = false
    private(set) var isStopping = false
    /// Another gateway owns the reader now, or it was moved. Nothing follows.
    private(set) var isSuperseded = false
    private var isReleased = false

    /// - Parameter now: when the claim was sent: the lease counts from then.
    init(at position: StreamPosition, _ journal: WebhookJournal, lease: TimeAmount, now: NIODeadline) {
        self.lease = lease
        (self.position, asked) = (position, position)
        self.journal = journal
        (keepBegan, nextKeep) = (now, now)
        leaseEnd = now + lease
    }

    /// Nothing follows.
    var isFinished: Bool { isSuperseded || isReleased }
    func isOwned(now: NIODeadline) -> Bool { now < leaseEnd }
    private var renewal: NIODeadline { keepBegan + .nanoseconds(lease.nanoseconds / 3) }

    // MARK: - What happened

    mutating func add(_ attempt: WebhookAttempt) {
        journal.add(attempt)
        hasNews = true
    }

    mutating func add(_ letter: WebhookProgress.Letter) { letters.append(letter) }

    /// The receiver wants nothing any more.
    mutating func end() { journal.end() }

    mutating func stop() { isStopping = true }

    /// - Parameter isKept: whether the term is still that of the owner; nil if storage didn't answer.
    mutating func kept(_ isKept: Bool?, now: NIODeadline) {
        guard let progress = keeping else { return }
        keeping = nil
        switch isKept {
        case true?:
            if progress.isLast { isReleased = true }
            position = progress.position
            letters.removeFirst(progress.letters.count)
            leaseEnd = keepBegan + lease
            nextKeep = keepBegan + Self.keepInterval
        case false?: isSuperseded = true
        case nil:
            hasNews = true
            nextKeep = now + WebhookQueue.pauseAfterServiceFailure
        }
    }

    // MARK: - What to do

    /// What is to be kept now; nil if nothing is, or the answer to what was kept last is awaited.
    ///
    /// - Parameters:
    ///   - delivered: everything up to there is delivered or given up.
    ///   - isIdle: whether no request is open.
    mutating func progress(
        through delivered: StreamPosition, isIdle: Bool, failing: @autoclosure () -> WebhookJournal.Failing,
        now: NIODeadline
    ) -> WebhookProgress? {
        let isLast = isStopping && isIdle && letters.count <= WebhookProgress.lettersMax
        let isDue = (hasProgress(through: delivered) || isLast) && now >= nextKeep
        guard keeping == nil, isDue || now >= renewal else { return nil }
        journal.failing = failing()
        if letters.count <= WebhookProgress.lettersMax { asked = delivered }
        let progress = WebhookProgress(
            position: asked, letters: Array(letters.prefix(WebhookProgress.lettersMax)), journal: journal,
            isLast: isLast)
        (keeping, keepBegan, hasNews) = (progress, now, false)
        return progress
    }

    /// When something may have to be kept.
    func wakes(through delivered: StreamPosition) -> [NIODeadline] {
        guard keeping == nil else { return [] }
        return hasProgress(through: delivered) || isStopping ? [renewal, nextKeep] : [renewal]
    }

    private func hasProgress(through delivered: StreamPosition) -> Bool {
        delivered != position || !letters.isEmpty || hasNews
    }
}
