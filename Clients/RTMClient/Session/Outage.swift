// The time without connection: when the next attempt begins, and when the link counts as suspended
// (behaviour.md S-14, T10, T11). The state machine decides what happens; this value decides when.

struct Outage: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// When the connection was lost, or the first login began.
    let since: Instant
    /// Whether there was a session that an attempt resumes.
    let wasConnected: Bool
    /// The client continues over its second path, and the app learns of this outage only if that fails (N-5).
    var isPathChange = false
    /// A token that the app's provider had just made was refused because it had expired (S-53).
    var hasRefusedNewToken = false
    /// How many rounds over the servers failed.
    private(set) var failures = 0
    /// How many of the latest rounds failed because the address was refused.
    private var refusals = 0
    /// How many rounds failed for other reasons.
    private var slowFailures = 0
    /// The resume window is over.
    private(set) var isSuspended = false
    /// When the next attempt begins. It is `nil` while an attempt runs, and when no further attempt fits
    /// before the link is suspended.
    private(set) var retryAt: Instant?
    /// Why the latest attempt failed.
    private(set) var lastLoss: LinkLoss?
    /// The server asked the client not to come back before this time.
    private var notBefore: Instant?
    private let timing: LinkTiming

    init(since: Instant, wasConnected: Bool, timing: LinkTiming) {
        self.since = since
        self.wasConnected = wasConnected
        self.timing = timing
    }

    /// The latest failure, to be appended to a reason.
    var cause: String { lastLoss.map { "; the latest failed: \($0.text)" } ?? "" }

    /// When the resume window ends.
    var suspendAt: Instant { since + timing.resumeWindow }

    /// When the link fails for good (T17), or `nil` if there is no such timeout.
    func giveUpAt(after timeout: Duration?) -> Instant? { timeout.map { since + $0 } }

    /// A round over the servers begins.
    mutating func attemptBegins() {
        retryAt = nil
        notBefore = nil
    }

    /// A round over the servers ended without a connection.
    mutating func attemptFailed(
        _ loss: LinkLoss, now: Instant, random: inout some RandomNumberGenerator
    ) {
        failures += 1
        if loss.isRefusalOfAddress {
            refusals += 1
        } else {
            slowFailures += 1
            refusals = 0
        }
        lastLoss = loss
        guard isSuspended else { return scheduleRetry(after: loss, now: now, random: &random) }
        retryAt = max(now + jittered(timing.suspendedRetryDelay, &random), earliestReturn(loss, now: now))
    }

    /// The waits are 2, 4, 8, 16 … s, and the first one is what the server advised, if it did. After a
    /// refused address they are shorter. The last attempt begins early enough to end before the link is
    /// suspended (S-14).
    mutating func scheduleRetry(
        after loss: LinkLoss, now: Instant, random: inout some RandomNumberGenerator
    ) {
        let usual = jittered(pause, &random)
        let delay = failures == 0 ? loss.advice ?? usual : usual
        let notBefore = earliestReturn(loss, now: now)
        self.notBefore = notBefore
        let last = suspendAt - timing.lastAttemptMargin
        let retryAt = min(max(now + delay, notBefore), max(last, notBefore))
        let fits = retryAt <= last && retryAt >= min(now + delay, now + timing.firstRetryDelay)
        self.retryAt = fits ? retryAt : nil
    }

    /// From now on attempts are further apart (T10).
    mutating func suspend(random: inout some RandomNumberGenerator) {
        isSuspended = true
        let next = suspendAt + jittered(timing.suspendedRetryDelay, &random)
        retryAt = max(next, notBefore ?? next)
    }

    /// The waits begin anew. A first failure still counts as one (T4).
    mutating func forgetFailures() {
        failures = min(failures, 1)
        slowFailures = min(slowFailures, 1)
        refusals = 0
    }

    /// A server that is being started again refuses connections until it is there, and then takes them at
    /// once, so it is asked often. One that doesn't answer is asked less and less.
    private var pause: Duration {
        guard refusals > 0 else { return doubled(timing.firstRetryDelay, slowFailures) }
        let refused = timing.refusedRetryDelay * (1 << min(refusals - 1, 16))
        return min(refused, timing.refusedRetryDelayMax, doubled(timing.firstRetryDelay, failures))
    }

    private func doubled(_ delay: Duration, _ failures: Int) -> Duration {
        delay * (1 << min(max(0, failures - (wasConnected ? 0 : 1)), 16))
    }

    private func earliestReturn(_ loss: LinkLoss, now: Instant) -> Instant {
        now + (loss.retryAfter ?? .zero)
    }

    private func jittered(_ delay: Duration, _ random: inout some RandomNumberGenerator) -> Duration {
        let share = timing.jitter
        return share > 0 ? delay * Double.random(in: (1 - share)...(1 + share), using: &random) : delay
    }
}

/// The times of a link that the public behaviour fixes (behaviour.md 2.3, S-14). Tests shorten them.
package struct LinkTiming: Sendable, Hashable {
    /// The first wait after a failure, which doubles each time (S-14).
    package var firstRetryDelay: Duration = .seconds(2)
    /// The wait after a server has refused the connection, or no network led to it, which doubles each time
    /// up to `refusedRetryDelayMax` (S-14).
    package var refusedRetryDelay: Duration = .milliseconds(250)
    package var refusedRetryDelayMax: Duration = .seconds(5)
    /// How long a link is `disconnected` before it is `suspended` (T10).
    package var resumeWindow: Duration = .seconds(120)
    /// The wait between the attempts of a suspended link (T11).
    package var suspendedRetryDelay: Duration = .seconds(30)
    /// The last attempt starts this long before the link is `suspended`, so that it can still end in time
    /// (S-14).
    package var lastAttemptMargin: Duration = .seconds(10)
    /// A delay is longer or shorter by up to this share (S-14).
    package var jitter = 0.2
    /// If a heartbeat has no answer within this time, the connection is lost (S-40).
    package var heartbeatAnswer: Duration = .seconds(10)
    /// How long the answer to a logout may take (S-22).
    package var logoutAnswer: Duration = .seconds(2)
    /// How long until the client asks again for something that the server could not give, if the server
    /// doesn't say when.
    package var refreshPause: Duration = .seconds(2)
    /// Replaces the heartbeat interval of the configuration and of the server.
    package var heartbeatInterval: Duration?
    /// The times of a client with a second path.
    package var paths = PathTiming()

    package init() {}
}
