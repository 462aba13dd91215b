package import NIOCore

/// What came of a request.
package struct WebhookAnswer: Sendable, Equatable {
    /// Limit: how much of an answer is shown.
    package static let startBytesMax = 200

    package enum Outcome: Sendable, Equatable {
        case status(Int)
        /// No connection: the name, the address, the port or the certificate isn't right.
        case noConnection(String)
        /// A connection, and no whole answer.
        case noAnswer(String)
    }

    package let outcome: Outcome
    /// What the receiver asks for with `Retry-After`.
    package var retryAfter: TimeAmount?
    package var start = ""
    package var duration = TimeAmount.nanoseconds(0)

    package init(
        outcome: Outcome, retryAfter: TimeAmount? = nil, start: String = "",
        duration: TimeAmount = .nanoseconds(0)
    ) {
        (self.outcome, self.retryAfter, self.start, self.duration) = (outcome, retryAfter, start, duration)
    }

    package enum Verdict: Equatable {
        case taken
        /// The receiver wants nothing any more.
        case gone
        /// The receiver takes nothing at present.
        case away(retryAfter: TimeAmount?)
        /// This request wasn't taken; another might be.
        case refused
    }

    package var verdict: Verdict {
        switch outcome {
        case .status(200..<300): .taken
        case .status(410): .gone
        case .status(429), .status(502...504): .away(retryAfter: retryAfter)
        case .noConnection: .away(retryAfter: nil)
        case .status, .noAnswer: .refused
        }
    }

    package var sentence: String {
        switch outcome {
        case .status(let status): "answered with \(status)"
        case .noConnection(let cause): "no connection: \(cause)"
        case .noAnswer(let cause): "no answer: \(cause)"
        }
    }
}
