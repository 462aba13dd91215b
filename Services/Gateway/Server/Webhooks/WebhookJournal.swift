import NIOCore
import RTMWebhookCall

/// One attempt to deliver events.
struct WebhookAttempt: Codable, Sendable, Equatable {
    /// Milliseconds since 1970, when it ended.
    let time: UInt64
    let events: Int
    /// The status of the answer; absent without an answer.
    let status: Int?
    let outcome: String
    let milliseconds: Int
    /// The first bytes of the answer's body.
    let answer: String

    init(_ request: WebhookRequest, _ answer: WebhookAnswer, now: WebhookTime) {
        time = now.milliseconds
        events = request.events.count
        if case .status(let status) = answer.outcome { self.status = status } else { status = nil }
        outcome = answer.sentence
        milliseconds = Int(answer.duration.nanoseconds / 1_000_000)
        self.answer = answer.start
    }
}

/// What a webhook keeps beside its position, so that whichever gateway is asked can show it.
struct WebhookJournal: Codable, Sendable, Equatable {
    /// Limit: attempts that are shown.
    static let attemptsMax = 25

    /// Oldest first.
    private(set) var attempts: [WebhookAttempt] = []
    /// The receiver has answered 410, and gets nothing any more until an operator moves the webhook.
    private(set) var isEnded = false
    var failing = Failing()

    /// Since when something fails, in milliseconds since 1970.
    struct Failing: Codable, Sendable, Equatable {
        /// Limit: keys whose time the next owner learns. Those of others begin anew with a takeover.
        static let keysMax = 200

        /// The receiver takes nothing.
        var receiver: UInt64?
        /// The first event that waits is refused.
        var keys: [String: UInt64] = [:]
    }

    mutating func add(_ attempt: WebhookAttempt) {
        if attempts.count == Self.attemptsMax { attempts.removeFirst() }
        attempts.append(attempt)
    }

    mutating func end() { isEnded = true }
}
