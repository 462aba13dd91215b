import NIOCore
import RTMModel

/// The time, as a clock has it that is never set back, and as a calendar has it.
struct WebhookTime: Sendable, Equatable {
    let uptime: NIODeadline
    /// Milliseconds since 1970.
    let milliseconds: UInt64
}

/// An event on its way to a webhook.
struct WebhookEvent: Sendable, Equatable {
    let position: StreamPosition
    /// What the event is about: a channel, a user or the app.
    let key: String
    /// When it happened, in milliseconds since 1970.
    let milliseconds: UInt64
    /// The JSON object that the receiver gets. It is dropped when it has been delivered.
    var body: String

    var bytes: Int { body.utf8.count }
}

/// One HTTP request to a receiver.
struct WebhookRequest: Sendable, Equatable {
    let id: Int
    /// Those of one key are in their order.
    let events: [WebhookEvent]

    /// The body is the same whenever the same events are sent.
    func body(app: String, webhook: String) -> String {
        Self.body(app: app, webhook: webhook, events.map(\.body))
    }

    /// - Parameters: names that need no escape in JSON (`WebhookRecord`), and JSON objects.
    static func body(app: String, webhook: String, _ events: [String]) -> String {
        #"{"app":"\#(app)","webhook":"\#(webhook)","events":[\#(events.joined(separator: ","))]}"#
    }
}

/// What storage is asked to keep in one transaction.
struct WebhookProgress: Sendable, Equatable {
    /// Limit: dead letters at once.
    static let lettersMax = 100

    struct Letter: Sendable, Equatable {
        let event: WebhookEvent
        let reason: String
    }

    let position: StreamPosition
    let letters: [Letter]
    let journal: WebhookJournal
    /// The reader is given up with it.
    var isLast = false
}
