/// Holds what the system promises against what the clients of a run have seen. Pure: a history in, what is
/// wrong with it out.
struct VerifyCheck {
    /// A promise, by what breaks it. The rules are those of docs/behaviour.md.
    enum Violation: Sendable, Hashable {
        /// An acknowledged message was not received, and no gap was reported (M-25).
        case lost(client: Int, channel: Int, message: Int)
        /// A message was received more than once (M-25).
        case repeated(client: Int, channel: Int, message: Int)
        /// A message was received behind one with a greater offset, or at another offset than elsewhere
        /// (M-24).
        case disordered(client: Int, channel: Int, message: Int)
        /// A message was received that nobody has published, or that was refused.
        case invented(client: Int, channel: Int, message: Int)
        /// Two writes succeeded that both compared with this revision (D-5).
        case lostUpdate(revision: Int64)
        /// The counter is below the number of the writes that succeeded, or above that of all that may have.
        case miscounted(value: Int, atLeast: Int, atMost: Int)
        /// A lock was acquired while another client owned it (K-4).
        case twoOwners(first: Int, second: Int)
        /// A fencing token was not greater than the one before (section 7).
        case staleToken(client: Int, fencingToken: UInt64)
        /// Nobody learned in time that a user came or left.
        case unannounced(isEntry: Bool)
    }

    private(set) var violations: [Violation] = []
    private(set) var summary = Summary()

    /// How much there was to check.
    struct Summary: Sendable, Hashable {
        var published = 0
        var received = 0
        var gaps = 0
        var comparisons = 0
        var acquisitions = 0
        var announcements = 0
        var slowestAnnouncement = Duration.zero
    }

    private struct Place: Hashable {
        let client: Int
        let channel: Int
    }

    private struct Receipts {
        var newest: UInt64?
        var messages: Set<Int> = []
        var hasGap = false
    }

    private let clients: Int
    private var receipts: [Place: Receipts] = [:]
    /// By channel and message.
    private var outcomes: [Int: [Int: (publisher: Int, outcome: VerifyEvent.Outcome)]] = [:]
    private var offsets: [Int: [Int: UInt64]] = [:]
    private var comparedRevisions: Set<Int64> = []
    private var counted: (done: Int, unknown: Int) = (0, 0)
    private var owner: Int?
    private var newest: (client: Int, token: UInt64)?

    /// - Parameter clients: how many clients have subscribed to each channel before the first message.
    init(clients: Int, _ history: [VerifyEvent]) {
        self.clients = clients
        // What a message's publisher knows may come behind the message.
        for case .published(let client, let channel, let message, let outcome) in history {
            outcomes[channel, default: [:]][message] = (client, outcome)
            summary.published += 1
        }
        for event in history { see(event) }
        findLost()
    }

    private mutating func see(_ event: VerifyEvent) {
        switch event {
        case .published: break
        case .received(let client, let channel, let message, let offset):
            received(message, offset, at: Place(client: client, channel: channel))
        case .gap(let client, let channel):
            summary.gaps += 1
            // What comes next may be of another log, with other offsets.
            receipts[Place(client: client, channel: channel), default: Receipts()].hasGap = true
            receipts[Place(client: client, channel: channel)]?.newest = nil
            offsets[channel] = nil
        case .compared(_, let revision, let outcome): compared(revision, outcome)
        case .counted(let value):
            let (least, most) = (counted.done, counted.done + counted.unknown)
            if !(least...most).contains(value) {
                violations.append(.miscounted(value: value, atLeast: least, atMost: most))
            }
        case .acquired(let client, let token): acquired(token, by: client)
        case .released(let client, _): if owner == client { owner = nil }
        case .announced(let isEntry, let time):
            summary.announcements += 1
            summary.slowestAnnouncement = max(summary.slowestAnnouncement, time ?? .zero)
            if time == nil { violations.append(.unannounced(isEntry: isEntry)) }
        }
    }

    private mutating func received(_ message: Int, _ offset: UInt64, at place: Place) {
        summary.received += 1
        let (client, channel) = (place.client, place.channel)
        if outcomes[channel]?[message].map({ $0.outcome == .refused }) ?? true {
            violations.append(.invented(client: client, channel: channel, message: message))
        }
        var seen = receipts[place] ?? Receipts()
        if !seen.messages.insert(message).inserted {
            violations.append(.repeated(client: client, channel: channel, message: message))
        }
        let elsewhere = offsets[channel]?[message]
        if offset <= seen.newest ?? 0 || elsewhere.map({ $0 != offset }) ?? false {
            violations.append(.disordered(client: client, channel: channel, message: message))
        }
        seen.newest = max(seen.newest ?? 0, offset)
        offsets[channel, default: [:]][message] = offset
        receipts[place] = seen
    }

    private mutating func compared(_ revision: Int64, _ outcome: VerifyEvent.Outcome) {
        summary.comparisons += 1
        switch outcome {
        case .done:
            counted.done += 1
            if !comparedRevisions.insert(revision).inserted {
                violations.append(.lostUpdate(revision: revision))
            }
        case .unknown: counted.unknown += 1
        case .refused: break
        }
    }

    private mutating func acquired(_ token: UInt64, by client: Int) {
        summary.acquisitions += 1
        if let owner { violations.append(.twoOwners(first: owner, second: client)) }
        owner = client
        // Whose release was lost with the link owns the lock still, with the same token.
        let isStillOwner = newest.map { $0 == (client, token) } ?? false
        if token <= newest?.token ?? 0, !isStillOwner {
            violations.append(.staleToken(client: client, fencingToken: token))
        }
        if token > newest?.token ?? 0 { newest = (client, token) }
    }

    private mutating func findLost() {
        for (channel, messages) in outcomes.sorted(by: { $0.key < $1.key }) {
            for (message, publish) in messages.sorted(by: { $0.key < $1.key }) where publish.outcome == .done
            {
                // A publisher does not receive its own message (M-21).
                for client in 0..<clients where client != publish.publisher {
                    let seen = receipts[Place(client: client, channel: channel)] ?? Receipts()
                    guard !seen.hasGap, !seen.messages.contains(message) else { continue }
                    violations.append(.lost(client: client, channel: channel, message: message))
                }
            }
        }
    }
}

extension VerifyCheck.Violation: CustomStringConvertible {
    var description: String {
        switch self {
        case .lost(let client, let channel, let message):
            "client \(client) lost message \(message) of channel \(channel), which was acknowledged, and "
                + "no gap was reported to it"
        case .repeated(let client, let channel, let message):
            "client \(client) received message \(message) of channel \(channel) again"
        case .disordered(let client, let channel, let message):
            "client \(client) received message \(message) of channel \(channel) out of the channel's order"
        case .invented(let client, let channel, let message):
            "client \(client) received message \(message) of channel \(channel), which nobody has published"
        case .lostUpdate(let revision):
            "two writes of the counter succeeded that compared with revision \(revision)"
        case .miscounted(let value, let least, let most):
            "the counter is \(value), and by the writes that succeeded it is from \(least) to \(most)"
        case .twoOwners(let first, let second):
            "client \(second) acquired the lock while client \(first) owned it"
        case .staleToken(let client, let token):
            "client \(client) acquired the lock with the fencing token \(token), which is not greater "
                + "than the last one"
        case .unannounced(let isEntry):
            "the others did not learn in time that a user \(isEntry ? "came" : "left")"
        }
    }
}
