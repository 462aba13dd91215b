import NIOCore
import RTMModel
import RTMServiceKit
import RTMWire

/// What the client of a subscribe has been sent, and what it still has to get: one answer, and behind it
/// the snapshots.
struct SubscribeReply {
    private enum State {
        case due
        /// No client asked, so there is nothing to answer.
        case notDue
        case given
    }

    private let request: SubscribeRequest
    private var state: State
    /// Features that were asked for and can't be had at present.
    var unavailable: SubscriptionFeatures = []
    /// The user shows the states that the client has named.
    var hasSetStates = false
    /// What presence and storage have sent, until it is given. Presence comes first (M-4).
    var presencePages: [RequestedPage] = []
    var storedPage: RequestedPage?
    /// Snapshots that are read when the client is writable: they are big, or came while it was behind.
    private(set) var lacksPresence = false
    private(set) var lacksStored = false

    init(to request: SubscribeRequest) {
        self.request = request
        state = request.purpose == .refresh ? .notDue : .due
    }

    var isGiven: Bool { state == .given }

    /// What follows the position is sent from here on.
    mutating func answer(at position: StreamPosition?, gap: Bool = false) -> SubscribeActions {
        guard state == .due, let position else { return .none }
        state = .given
        let answer: SubscribeAnswer =
            switch request.purpose {
            case .login: .loggedIn(position, gap: gap)
            case .userMetadata: .userMetadataSubscribed(position, gap: gap)
            case .subscribe, .refresh:
                .subscribed(position, unavailable: unavailable, gap: gap, hasSetStates: hasSetStates)
            }
        return .one(.answer(request.session, requestID: request.requestID, answer))
    }

    /// What follows the position is sent from here on, behind the snapshots.
    mutating func giveAll(at position: StreamPosition?) -> SubscribeActions {
        answer(at: position) + giveSnapshots()
    }

    /// As `giveAll`. A gap is news also to a client that was answered before.
    mutating func giveAll(at position: StreamPosition, gap: Bool) -> SubscribeActions {
        var actions = answer(at: position, gap: gap)
        if gap, actions.isEmpty { actions = .one(.gap(request.session, request.channel, position)) }
        return actions + giveSnapshots()
    }

    mutating func refuse(_ error: RTMError) -> SubscribeActions {
        guard state == .due else { return .none }
        state = .given
        if request.isLogin {
            let refusal = RTMError(.loginNoServerResources, error.reason, retryAfter: .seconds(1))
            return .one(.answer(request.session, requestID: request.requestID, .loginRefused(refusal)))
        }
        return .one(
            .answer(request.session, requestID: request.requestID, .refused(error, request.channel)))
    }

    private mutating func giveSnapshots() -> SubscribeActions {
        var actions = SubscribeActions.none
        for page in presencePages { actions.append(.send(request.session, page)) }
        if let storedPage { actions.append(.send(request.session, storedPage)) }
        (presencePages, storedPage) = ([], nil)
        return actions
    }

    // MARK: Snapshots that wait for the client

    /// The snapshot of presence is big, so it isn't read before the client is writable.
    mutating func awaitsPresence() { lacksPresence = true }

    /// The client is behind: the snapshots are read again when it has caught up.
    mutating func dropSnapshots() {
        if presencePages.contains(where: { $0.frames.readableBytes > 0 }) { lacksPresence = true }
        if storedPage?.frames.readableBytes ?? 0 > 0 { lacksStored = true }
        (presencePages, storedPage) = ([], nil)
    }

    /// What is lacking is read now.
    mutating func takeLacking() -> (presence: Bool, stored: Bool) {
        defer { (lacksPresence, lacksStored) = (false, false) }
        return (lacksPresence, lacksStored)
    }
}
