package import RTMModel
package import RTMWire

/// Where the rosters live: in this process (`InMemoryPresenceStore`) or in Redis, shared by several nodes.
/// Both keep this contract, and the tests run it against both.
///
/// A store is confined to one event loop. Every call completes exactly once, on that loop, perhaps before it
/// returns. Before it completes, the `observer` has received every event that the call caused, in the order
/// of each channel. A call fails with `.presenceOperationTimeout` (-13012) when it isn't known whether it was
/// done, otherwise with `.presenceOperationFailed` (-13013) or with the error of the limit that refused it.
///
/// What edges ask says over which of their links it comes. It fails, and nothing is done, when a newer link
/// of the edge has renewed the lease since (`EdgeLink`). The end of a session is final, so it is never too
/// late.
package protocol PresenceStore: AnyObject {
    typealias Completion<Value> = (Result<Value, RTMError>) -> Void

    var observer: (any PresenceStoreObserver)? { get set }

    /// Connects to the place where the rosters are kept. The store reconnects for as long as it runs.
    func start()
    func shutdown()

    /// A session's user comes into a channel or returns to it (S-12, S-43), and shows the states of the entry
    /// from then on, beside those that it has (P-46). Of somebody who is there already, others get only
    /// what has changed.
    func enter(
        _ entry: Entry, _ channel: ChannelKey, over link: EdgeLink, _ done: @escaping Completion<Entered>)
    /// Enters a member that an edge reports again after a loss. Within the grace period the other users get
    /// no event if they had one already, before the loss. A session that is in the channel keeps the states
    /// that it has, because they may be newer than those of the report. Returns whether the session is the
    /// member now; otherwise a newer login of the user is.
    func adopt(
        _ entry: Entry, _ channel: ChannelKey, isAnnounced: Bool, over link: EdgeLink,
        _ done: @escaping Completion<Bool>)
    /// A session leaves a channel. A session that isn't in the channel is ignored.
    func leave(
        _ caller: Caller, _ channel: ChannelKey, over link: EdgeLink, _ done: @escaping Completion<Void>)
    /// A session has ended: it leaves its channels, or is lost in them and times out later (S-42).
    func end(_ caller: Caller, _ end: SessionEnd, _ done: @escaping Completion<Void>)

    /// Sets states, given in the order of their keys. Gives the cost (`StateChange.cost`, times the users who
    /// get the event), or `nil` when the user isn't in the channel with this session. In a big channel the
    /// cost is 0, because what an interval announces has a bound of its own.
    func setStates(
        _ caller: Caller, _ channel: ChannelKey, _ items: [StateItem], over link: EdgeLink,
        _ done: @escaping Completion<Int?>)
    /// Removes states; without keys all of them. Gives what `setStates` gives.
    func removeStates(
        _ caller: Caller, _ channel: ChannelKey, _ keys: [String], over link: EdgeLink,
        _ done: @escaping Completion<Int?>)

    /// Gives nil for a user who isn't in the channel (P-43), and for another user who is quiet (P-45).
    func states(
        of user: String, askedBy asker: String, _ channel: ChannelKey,
        _ done: @escaping Completion<[StateItem]?>)
    /// Visible users that come after the given one, in the order of their bytes (P-35).
    func users(
        _ channel: ChannelKey, after user: String?, countMax: Int, _ done: @escaping Completion<[UserState]>)
    func onlineCount(_ channel: ChannelKey, _ done: @escaping Completion<Int>)
    /// The channels in which the user is and isn't quiet, by type and name (P-36).
    func channels(of user: UserKey, _ done: @escaping Completion<[ChannelKey]>)
    /// The users in the channel, and the number of the channel's last event; the snapshot contains that event
    /// and all before it. Gives nil when more than `onlineMax` users are online, which the store finds out
    /// without visiting each of them.
    func snapshot(
        _ channel: ChannelKey, onlineMax: Int, _ done: @escaping Completion<RosterSnapshot?>)

    /// Keeps a lease alive. Gives false until the lease's edge has reported all members under it (`synced`),
    /// and again after the lease has ended. From now on nothing counts that comes over an older link.
    func renew(_ link: EdgeLink, _ done: @escaping Completion<Bool>)
    /// The lease's edge has reported all members under it, so all other members are lost.
    func synced(
        _ link: EdgeLink, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>)

    /// The channel's events of a source up to this one are in its log, the last one at this position.
    func acknowledge(
        _ channel: ChannelKey, of source: UInt64, through sequence: UInt64, at position: StreamPosition)
    /// Does what is due. It is called several times a second, and only after the last call has completed.
    func sweep(_ done: @escaping Completion<Void>)

    var totals: PresenceTotals { get }
}

extension PresenceStore {
    package func start() {}
    package func shutdown() {}
}

/// Receives what happens to the rosters.
package protocol PresenceStoreObserver: AnyObject {
    /// Reports events that are to be appended to the channel's log, each once and in this order. There are
    /// none when the last user who goes was quiet.
    func rosterChanged(_ channel: ChannelKey, _ change: NumberedEvents)
    /// Reports how many leases have ended. All members under them are lost.
    func leasesExpired(_ leases: Int)
    /// Something came over this link although its edge continues over a newer one.
    func isOlder(_ link: EdgeLink)
}

package struct Entered: Sendable, Hashable {
    /// The number of the channel's last event: once that event is in the log, so are all events that the join
    /// caused.
    package var through: UInt64
    /// Whether the session is the member now; otherwise a newer login of the user is.
    package var isMember: Bool
    /// What the states of the entry cost (as `setStates` gives it); nil if they weren't set: the user
    /// would have too many (L-31), or its session is in the channel already and shows others (P-46).
    package var statesCost: Int?

    package init(through: UInt64, isMember: Bool, statesCost: Int?) {
        self.through = through
        self.isMember = isMember
        self.statesCost = statesCost
    }
}

package struct NumberedEvents: Sendable {
    /// The number under which messaging knows the appender. Together with an event's sequence it makes the
    /// append idempotent.
    package var source: UInt64
    /// The events with their numbers, which grow within a source.
    package var events: [(sequence: UInt64, event: RosterEvent)]
    /// Whether nobody is in the channel any more.
    package var isEmpty: Bool

    package init(source: UInt64, events: [(sequence: UInt64, event: RosterEvent)], isEmpty: Bool) {
        self.source = source
        self.events = events
        self.isEmpty = isEmpty
    }
}

package struct RosterSnapshot: Sendable, Hashable {
    /// The users in the order of their bytes.
    package var users: [UserState]
    package var through: UInt64
    /// The position of the last event in the log, if the store knows it.
    package var position: StreamPosition?

    package init(users: [UserState], through: UInt64, position: StreamPosition? = nil) {
        self.users = users
        self.through = through
        self.position = position
    }
}

/// A session's user in a channel.
package struct MemberKey: Sendable, Hashable {
    package var channel: ChannelKey
    package var user: String
    package var session: UInt64

    package init(channel: ChannelKey, user: String, session: UInt64) {
        self.channel = channel
        self.user = user
        self.session = session
    }
}

/// What the store holds, for the metrics.
package struct PresenceTotals: Sendable, Hashable {
    package var channels = 0
    package var members = 0
    package var leases = 0

    package init(channels: Int = 0, members: Int = 0, leases: Int = 0) {
        self.channels = channels
        self.members = members
        self.leases = leases
    }
}
