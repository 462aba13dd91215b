import RTMModel
import RTMWire

/// Why a message arrived, or why it didn't: the hops that it took, or would take, with what is known of each
/// (W-60).
struct DeliveryExplanation: Encodable, Sendable, Equatable {
    enum Verdict: String, Encodable, Sendable {
        case delivered, notDelivered, wouldBeDelivered, wouldNotBeDelivered, unknown
    }

    let verdict: Verdict
    /// The hop where it ended.
    let hop: Hop.Place
    /// The sentence of that hop.
    let reason: String
    let tree: Hop
}

/// A station on the way of a message.
struct Hop: Encodable, Sendable, Equatable {
    enum Place: String, Encodable, Sendable {
        /// Who publishes; the hook that is asked before; the log of the channel at messaging; an event loop
        /// of an edge; a session there; the user whom the message is for.
        case publisher, hook, log, edge, session, user
    }

    enum Verdict: String, Encodable, Sendable {
        // A publisher's:
        case allowed, permissionDenied, rateReached, permissionNotKnown
        // A hook's:
        case asked
        // A log's:
        case accepted, reachable, neverAccepted, noSubscribers
        // An edge's:
        case pushed, behind, detached
        // A session's:
        case written, waiting, subscribed, subscribing, notSubscribed, subscribedLater, notWanted, ownMessage
        case gapReported
        // A user's, and those of a session that has ended:
        case online, offline, banned, tooSlow, tokenExpired, loginRefused, publishRefused, subscribeRefused
        // Every hop may have these:
        case notKnown, noLongerKnown, unreachable, refused
    }

    let hop: Place
    var node: String?
    /// The number of the event loop at the node.
    var loop: UInt32?
    /// A number of 64 bits, as a text.
    var session: String?
    /// Milliseconds since 1970; absent where no time is known.
    var at: UInt64?
    let verdict: Verdict
    /// One sentence.
    let reason: String
    /// Where it goes from here.
    var hops: [Hop]?

    mutating func add(_ hop: Hop) { hops = (hops ?? []) + [hop] }
}

/// What becomes of a message for a user, or at one of the user's sessions.
enum Arrival: Comparable, Sendable {
    case doesNotArrive, unknown, arrives
}

/// A hop, and what it means for the message.
struct HopFinding {
    var hop: Hop
    let arrival: Arrival

    /// What decides for several sessions of a user: one that has got it, else one of which it isn't known.
    static func decisive(_ findings: [HopFinding]) -> HopFinding? {
        findings.max { $0.arrival < $1.arrival }
    }
}

/// What messaging says of a channel, and which node that is.
struct ExplainedLog: Sendable {
    let node: String
    let response: ExplainResponse
}

/// What a gateway has found out about a user. Where a service could not be asked, the error says why.
struct UserFacts: Sendable {
    let userID: String
    /// UTC, milliseconds since 1970.
    let now: UInt64
    /// Until when the user is banned, in milliseconds since 1970; nil if the user isn't.
    var bannedUntil: UInt64?
    /// What messaging says of the user's inbox.
    var inbox: Result<ExplainedLog, RTMError>
    var edges: Result<EdgeReports, RTMError>

    /// Limit: how far the clocks of two machines may differ, in milliseconds. What lies closer together isn't
    /// put in an order.
    static let clockTolerance: UInt64 = 1_000

    var explanations: [EdgeExplanation] { (try? edges.get())?.explanations ?? [] }

    /// Nil if every event loop has answered.
    var incompleteness: Hop? {
        switch edges {
        case .failure(let error):
            return Hop(
                hop: .edge, verdict: .unreachable, reason: "The edges could not be asked: \(error.reason).")
        case .success(let reports):
            guard reports.answered < reports.asked || reports.asked == 0 else { return nil }
            let sentence =
                reports.asked == 0
                ? "No edge is connected."
                : "Only \(reports.answered) of \(reports.asked) event loops of edges have answered in time."
            return Hop(hop: .edge, verdict: .unreachable, reason: sentence)
        }
    }
}

extension EdgeExplanation {
    func hop(_ place: Hop.Place, _ verdict: Hop.Verdict, at time: UInt64? = nil, _ reason: String) -> Hop {
        Hop(hop: place, node: node, loop: loop, at: time, verdict: verdict, reason: reason)
    }

    func hop(
        ofSession session: UInt64, _ verdict: Hop.Verdict, at time: UInt64? = nil, _ reason: String
    ) -> Hop {
        var hop = hop(.session, verdict, at: time, reason)
        hop.session = "\(session)"
        return hop
    }
}

// MARK: - The end of a session

extension SessionFact {
    /// The end of a session, as a hop says it.
    var endVerdict: Hop.Verdict {
        switch cause {
        case "slowConsumer": .tooSlow
        case "tokenExpired": .tokenExpired
        default: .offline
        }
    }

    /// Why a session ended, as the end of a sentence.
    var endReason: String {
        switch cause {
        case "slowConsumer": "the client read too slowly and was cut off"
        case "tokenExpired": "its token expired, or was revoked"
        case "heartbeatTimeout": "nothing came from the client in time"
        case "loggedOut": "the client logged out"
        case "superseded": "the user logged in elsewhere"
        case "kicked": "an operator ended it"
        case "rateExceeded": "the client kept exceeding a rate"
        case "draining": "its edge was shut down"
        default: cause
        }
    }
}
