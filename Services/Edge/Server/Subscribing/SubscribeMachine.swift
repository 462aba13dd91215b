import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink
import RTMWire

/// One subscribe on its way (docs/decisions/0010): the channel is attached, then presence and storage are
/// asked for what the subscriber begins with, then what it missed is read, and at last it is live. Exactly
/// one answer goes out.
///
/// A value without I/O. `handle` takes each `SubscribeEvent` and returns a `Step`: actions for the shell, and
/// what changes in the tables of `SubscriptionIndex`. An event that doesn't fit the state comes too late, and
/// does nothing.
struct SubscribeMachine {
    enum State {
        /// The channel isn't attached yet. Followed by `preparing`; without snapshots, as at a login, by
        /// `reading`, `awaitingWritable` or live. A session that was subscribed before is suspended or stays
        /// live if the attach fails; a new one is refused.
        case attaching
        /// Presence and storage are asked. Followed by `reading`, `awaitingWritable`, `suspended`, live or a
        /// refusal; by `pageDue` after a snapshot that was asked for by itself.
        case preparing(Preparation)
        /// The client hasn't read what was sent before: its next snapshot or page waits, so that what a
        /// client asks for itself never makes it a slow consumer. Neither is held meanwhile; they are read
        /// again when it is writable. Followed by `preparing`, `reading`, `suspended` or live.
        case awaitingWritable
        /// A page of what it missed is under way. Followed by `pageDue`, `awaitingWritable`, `suspended`,
        /// live or a refusal.
        case reading
        /// The next page is read once the actions of this step are performed: what they send may fill the
        /// socket. Followed by `reading` or `awaitingWritable`, or by `suspended` after a snapshot.
        case pageDue
        /// The log can't be read at present. The next attachment of the channel or a later attempt leads to
        /// `reading` or `awaitingWritable`; an attach that fails refuses a new subscribe.
        case suspended
    }

    /// What presence and storage have yet to answer.
    struct Preparation {
        var awaitsPresence: Bool
        var awaitsStorage: Bool
        /// Only snapshots are read, for a client that was writable, and they are sent when they are there.
        var isCollection = false
        /// There is nothing to offer without it.
        var refusal: RTMError?
    }

    enum Kind {
        /// The client subscribes.
        case new
        /// The client continues a subscription that it had before, over another connection.
        case continued
        /// A subscriber was taken out to come in again: with other features (M-5), or for a new snapshot.
        case returning
    }

    /// The channel and the session's socket as an event finds them.
    struct Circumstances {
        let position: StreamPosition?
        let isAttached: Bool
        /// The session's client has taken nearly all that was sent to it.
        let isWritable: Bool
    }

    /// How long a read that failed waits for the next attempt.
    static let retryDelay = Duration.seconds(1)

    let id: SubscribeID
    private(set) var request: SubscribeRequest
    let channelIndex: Int
    private(set) var state = State.attaching
    private(set) var kind: Kind
    /// The client has been given everything up to here; nil for a new subscribe until the channel is
    /// attached.
    private(set) var given: StreamPosition?
    private var reply: SubscribeReply
    /// Up to where the client had the channel before this; nil if it has just begun.
    private var continuesAfter: StreamPosition?
    /// Something behind that is lost, which was reported to the client.
    private var hasGap = false
    /// Features that the session didn't have before. Each of them needs a snapshot.
    private var added: SubscriptionFeatures
    /// It has been in `awaitingWritable` once, so its client may hold an old snapshot.
    private var hasWaited = false
    /// Behind the snapshot that it has, something is lost.
    private var lostEvents = false
    /// Others got new snapshots of presence meanwhile, and it didn't.
    var missedRefresh = false
    /// The lease counts it among the refreshes under way.
    private(set) var holdsRefresh: Bool

    init(_ id: SubscribeID, _ request: SubscribeRequest, at channelIndex: Int) {
        self.id = id
        self.request = request
        self.channelIndex = channelIndex
        kind = request.after == nil ? .new : .continued
        given = request.after
        continuesAfter = request.after
        added = request.features
        reply = SubscribeReply(to: request)
        holdsRefresh = request.purpose == .refresh
    }

    /// It was live with these features until now. What follows the position has not been sent to it.
    mutating func comeBack(from position: StreamPosition, with features: SubscriptionFeatures) {
        kind = .returning
        given = position
        continuesAfter = position
        added = request.features.subtracting(features).union(request.renewed)
    }

    /// It takes over from one that was coming in again and isn't wanted any more.
    mutating func takeOver(from other: SubscribeMachine) {
        kind = .returning
        given = other.given
        (continuesAfter, hasGap) = (other.continuesAfter, other.hasGap)
        missedRefresh = other.missedRefresh
    }
}

// MARK: - What is to be done

extension SubscribeMachine {
    /// What an event leads to: first the actions, then the transition.
    struct Step {
        /// What changes for the subscribe in the tables of `SubscriptionIndex`.
        enum Transition {
            case none
            case awaitAttachment
            /// As `awaitAttachment`, but the attach is begun by something else.
            case awaitNextAttachment
            /// Presence and storage are asked, and the log moves on meanwhile.
            case prepare(SnapshotQuery)
            case read(PageQuery)
            case goLive(gap: Bool)
            case giveUp(RTMError)
        }

        var actions = SubscribeActions.none
        var transition = Transition.none
    }

    mutating func handle(_ event: SubscribeEvent, _ circumstances: Circumstances) -> Step {
        switch event {
        case .proceed: proceed(circumstances)
        case .attachFailed(let failure): attachFailed(failure, circumstances)
        case .presenceAnswered(let answer, let hasSetStates):
            presenceAnswered(answer, hasSetStates, circumstances)
        case .storageAnswered(let outcome): storageAnswered(outcome, circumstances)
        case .pageRead(.success(let page)): pageRead(page, circumstances)
        case .pageRead(.failure(let failure)): readFailed(failure, circumstances)
        }
    }

    /// Proceeds as far as it can.
    private mutating func proceed(_ circumstances: Circumstances) -> Step {
        switch state {
        case .attaching where !request.hasSnapshots: begin(circumstances)
        case .attaching: ask(circumstances)
        case .suspended, .awaitingWritable, .pageDue: begin(circumstances)
        case .preparing, .reading: Step()
        }
    }

    /// Nothing that the subscriber may see has come since it began.
    mutating func advance(to position: StreamPosition?) { given = position }

    // MARK: Preparing

    /// Every subscriber is a member of the channel (M-3), so every subscribe waits for presence:
    /// "subscribed" means "listed".
    private mutating func ask(_ circumstances: Circumstances) -> Step {
        given = given ?? circumstances.position
        let wanted = request.features.intersection(added)
        let query = SnapshotQuery(
            id: id, session: request.session, channel: request.channel,
            join: request.purpose == .userMetadata
                ? nil
                : .init(
                    isQuiet: request.features.contains(.quiet), wantsSnapshot: wanted.contains(.presence),
                    states: request.states?.items ?? []),
            stored: wanted.intersection([.metadata, .lock]))
        state = .preparing(
            Preparation(awaitsPresence: query.join != nil, awaitsStorage: !query.stored.isEmpty))
        return Step(transition: .prepare(query))
    }

    /// The answer names what can't be had, and doesn't wait for it. The lease's sync announces the membership
    /// later.
    private mutating func presenceAnswered(
        _ answer: PresenceAnswer, _ hasSetStates: Bool, _ circumstances: Circumstances
    ) -> Step {
        guard case .preparing(var preparation) = state else { return Step() }
        preparation.awaitsPresence = false
        if hasSetStates { reply.hasSetStates = true }
        // They aren't kept until the subscribe is over.
        let states = request.states.take()
        if case .refused(let refusal) = answer { preparation.refusal = refusal }
        state = .preparing(preparation)
        switch answer {
        case .snapshot(let pages): reply.presencePages = pages
        case .bigSnapshot: reply.awaitsPresence()
        case .refused: break
        case .unavailable:
            return prepared(circumstances, withoutPresence(states, isMember: preparation.isCollection))
        }
        return prepared(circumstances)
    }

    private mutating func storageAnswered(
        _ outcome: ServiceLinkResult<RequestedPage>, _ circumstances: Circumstances
    ) -> Step {
        guard case .preparing(var preparation) = state else { return Step() }
        preparation.awaitsStorage = false
        switch outcome {
        case .success(let page): reply.storedPage = page
        case .failure(let failure) where request.purpose == .userMetadata:
            preparation.refusal = RTMError(
                failure, .storageNotAvailable, timeout: .storageOperationTimeout)
        case .failure:
            reply.unavailable.formUnion(request.features.intersection([.metadata, .lock]))
        }
        state = .preparing(preparation)
        return prepared(circumstances)
    }

    private mutating func prepared(_ circumstances: Circumstances, _ actions: SubscribeActions = .none)
        -> Step
    {
        guard case .preparing(let preparation) = state else { return Step() }
        guard !preparation.awaitsPresence, !preparation.awaitsStorage else { return Step(actions: actions) }
        guard let refusal = preparation.refusal else {
            return preparation.isCollection
                ? collected(circumstances, actions) : begin(circumstances, actions)
        }
        guard kind == .returning else { return Step(actions: actions, transition: .giveUp(refusal)) }
        // It stays subscribed; only the snapshot that it asked for can't be had.
        return begin(circumstances, actions + reply.refuse(refusal))
    }

    /// Presence knows the membership of a subscriber that only lacks a snapshot, so that needs no sync: the
    /// snapshot is asked for again once the session is live.
    private mutating func withoutPresence(
        _ states: JoinStates?, isMember: Bool = false
    ) -> SubscribeActions {
        if request.features.contains(.presence) { reply.unavailable.insert(.presence) }
        return isMember || request.purpose == .refresh
            ? .none
            : .one(.joinMissed(request.session, request.channel, states, isContinued: kind != .new))
    }

    /// Reads the snapshots that the client was too slow for. They aren't held while it is behind.
    private mutating func collect(_ actions: SubscribeActions) -> Step {
        let lacking = reply.takeLacking()
        state = .preparing(
            Preparation(awaitsPresence: lacking.presence, awaitsStorage: lacking.stored, isCollection: true))
        let wanted = request.features.intersection(added)
        let query = SnapshotQuery(
            id: id, session: request.session, channel: request.channel, join: nil,
            wantsRoster: lacking.presence,
            stored: lacking.stored ? wanted.intersection([.metadata, .lock]) : [])
        return Step(actions: actions + .one(.collect(query)))
    }

    private mutating func collected(_ circumstances: Circumstances, _ actions: SubscribeActions) -> Step {
        guard given != circumstances.position else {
            return Step(actions: actions, transition: .goLive(gap: false))
        }
        state = .pageDue
        return Step(actions: actions + reply.giveAll(at: given) + .one(.proceed(id)))
    }

    // MARK: Reading

    /// The snapshots are there: the session is live at once, or first reads what it missed.
    private mutating func begin(_ circumstances: Circumstances, _ actions: SubscribeActions = .none) -> Step {
        guard circumstances.isWritable else { return awaitWritable(actions) }
        if reply.lacksPresence || reply.lacksStored { return collect(actions) }
        guard let given, given != circumstances.position else {
            return Step(actions: actions, transition: .goLive(gap: false))
        }
        // A page would reach beyond the position of a channel that isn't attached, and what lies between
        // would come twice.
        guard circumstances.isAttached else {
            state = .suspended
            return Step(actions: actions, transition: .awaitAttachment)
        }
        state = .reading
        let query = PageQuery(
            id: id, session: request.session, channel: request.channel, after: given,
            features: request.delivered, showsOwn: request.isLogin, publishers: request.publishers)
        return Step(actions: actions, transition: .read(query))
    }

    private mutating func pageRead(_ page: SubscribePage, _ circumstances: Circumstances) -> Step {
        guard case .reading = state else { return Step() }
        // Something else was sent meanwhile. To hold the page would take memory that nothing bounds.
        guard circumstances.isWritable else { return awaitWritable() }
        // The link was lost while the read waited for its turn. As above: what lies behind our position comes
        // with the next attachment, too.
        guard circumstances.isAttached else {
            state = .suspended
            return Step(transition: .awaitAttachment)
        }
        guard !page.gap else {
            return page.more ? skip(to: page.position) : Step(transition: .goLive(gap: true))
        }
        let actions = take(page)
        guard page.more else { return Step(actions: actions, transition: .goLive(gap: false)) }
        state = .pageDue
        return Step(actions: actions + .one(.proceed(id)))
    }

    /// A log that began anew has more behind the gap: all that it has is read.
    private mutating func skip(to position: StreamPosition) -> Step {
        lostEvents = lostEvents || hasOldSnapshot
        hasGap = true
        let actions = reply.giveAll(at: position, gap: true)
        given = position
        state = .pageDue
        return Step(actions: actions + .one(.proceed(id)))
    }

    private mutating func take(_ page: SubscribePage) -> SubscribeActions {
        var actions = reply.giveAll(at: given)
        if page.frames.readableBytes > 0 {
            actions.append(.send(request.session, RequestedPage(frames: page.frames, charge: page.charge)))
        }
        given = page.position
        return actions
    }

    /// A subscriber isn't turned away, and no gap is reported to it either while the log has what it missed:
    /// the subscribe is suspended until the log can be read.
    private mutating func readFailed(_ failure: ServiceLinkRequestFailure, _ circumstances: Circumstances)
        -> Step
    {
        guard case .reading = state else { return Step() }
        guard reply.isGiven || kind == .returning else {
            return Step(transition: .giveUp(request.error(failure)))
        }
        if case .refused(let error) = failure, !error.isRetryable {
            return Step(transition: .goLive(gap: true))
        }
        state = .suspended
        let actions = circumstances.isWritable ? reply.giveAll(at: given) : .none
        return Step(actions: actions + .one(.retry(id, after: Self.retryDelay)))
    }

    /// The channel could not be attached. A subscriber that was to come in again stays what it was.
    private mutating func attachFailed(_ failure: ServiceLinkRequestFailure, _ circumstances: Circumstances)
        -> Step
    {
        switch state {
        case .attaching, .suspended: break
        case .preparing, .awaitingWritable, .reading, .pageDue: return Step()
        }
        guard reply.isGiven || kind == .returning else {
            return Step(transition: .giveUp(request.error(failure)))
        }
        var actions = SubscribeActions.none
        if case .attaching = state { actions = withoutSnapshots() }
        state = .suspended
        if given == circumstances.position { return begin(circumstances, actions) }
        if circumstances.isWritable { actions.append(contentsOf: reply.giveAll(at: given)) }
        return Step(actions: actions, transition: .awaitNextAttachment)
    }

    /// The snapshots for which it was to subscribe again could not be asked for.
    private mutating func withoutSnapshots() -> SubscribeActions {
        reply.unavailable.formUnion(
            request.features.intersection(added).intersection([.metadata, .lock]))
        return request.isMembership ? withoutPresence(request.states.take()) : .none
    }

    // MARK: Waiting for the client

    /// The client's call could time out before the client has read everything, so it is answered now. But the
    /// answer says whether storage can be asked, so it waits for what storage is asked again.
    private mutating func awaitWritable(_ actions: SubscribeActions = .none) -> Step {
        var actions = actions
        hasWaited = true
        if holdsRefresh {
            // The next refreshes don't wait for this client.
            holdsRefresh = false
            actions.append(refreshed)
        }
        reply.dropSnapshots()
        if !request.isLogin, !reply.lacksStored { actions.append(contentsOf: reply.answer(at: given)) }
        state = .awaitingWritable
        return Step(actions: actions + .one(.awaitWritable(id, request.session)))
    }
}

// MARK: - The end

extension SubscribeMachine {
    /// The session is a subscriber from this position on.
    mutating func goLive(at position: StreamPosition, gap: Bool) -> SubscribeActions {
        lostEvents = lostEvents || gap && hasOldSnapshot
        var actions = reply.giveAll(at: position, gap: gap)
        if request.purpose == .subscribe, request.channel.type.hasLocks, kind != .returning {
            actions.append(.entered(request.session, request.channel))
        }
        if kind != .returning || gap || hasGap {
            let start = SubscriptionStart(position: position, after: continuesAfter, gap: gap || hasGap)
            actions.append(.began(request.session, request.channel, start))
        }
        if lacksSnapshot { actions.append(.lacksSnapshot(request.session, channelIndex: channelIndex)) }
        if holdsRefresh { actions.append(refreshed) }
        return actions
    }

    private var refreshed: SubscribeAction { .refreshed(request.session, channelIndex: channelIndex) }

    private var lacksSnapshot: Bool {
        guard request.features.contains(.presence) else { return false }
        return reply.unavailable.contains(.presence) || missedRefresh || lostEvents
    }

    /// A gap takes away what follows a snapshot that was given, or got, before it.
    private var hasOldSnapshot: Bool { kind == .returning || hasWaited || reply.isGiven }

    /// The subscribe is over and the session isn't a subscriber.
    mutating func giveUp(_ error: RTMError) -> SubscribeActions {
        (holdsRefresh ? .one(refreshed) : .none) + reply.refuse(error)
    }
}
