package import RTMModel
package import RTMWire

/// Where the rosters live: in this process (`EmbeddedPresenceStore`) or in Redis, shared by several nodes.
/// One contract, which the tests run against both.
///
/// Confined to one event loop. Every call completes exactly once, on that loop, perhaps before it returns.
/// Before it completes, the `observer` has heard of every event that it caused, in the order of each channel.
/// A failure is `presenceOperationTimeout` when it isn't known whether something was done, else
/// `presenceOperationFailed` or the refusal of a limit.
package protocol PresenceStore: AnyObject {
    typealias Completion<Value> = (Result<Value, RTMError>) -> Void

    var observer: (any PresenceStoreObserver)? { get set }

    /// Connects to whatever keeps the rosters, and connects again for ever after.
    func start()
    func shutdown()

    /// A session's user comes into a channel or returns (S-12, S-43). Gives the number of the channel's last
    /// event: when that is in the log, so is what this caused.
    func enter(_ entry: Entry, _ channel: ChannelKey, _ done: @escaping Completion<UInt64>)
    /// The same for a member that an edge tells again after a loss. Within the grace nobody hears of it.
    func adopt(_ entry: Entry, _ channel: ChannelKey, _ done: @escaping Completion<Void>)
    /// A session has left a channel; one that isn't there is passed over.
    func leave(_ caller: Caller, _ channel: ChannelKey, _ done: @escaping Completion<Void>)
    /// A session has ended: it leaves its channels, or is lost in them (S-42).
    func end(_ caller: Caller, _ end: SessionEnd, _ done: @escaping Completion<Void>)

    /// False when the user isn't in the channel with this session.
    func setStates(
        _ caller: Caller, _ channel: ChannelKey, _ items: [StateItem], _ done: @escaping Completion<Bool>)
    /// No keys: all. False when the user isn't in the channel with this session.
    func removeStates(
        _ caller: Caller, _ channel: ChannelKey, _ keys: [String], _ done: @escaping Completion<Bool>)

    /// Nil for a user who isn't there, or who is quiet and somebody else (P-43, P-45).
    func states(
        of user: String, askedBy asker: String, _ channel: ChannelKey,
        _ done: @escaping Completion<[StateItem]?>)
    /// Visible users after the given one by their bytes (P-35).
    func users(
        _ channel: ChannelKey, after user: String?, countMax: Int, _ done: @escaping Completion<[UserState]>)
    func onlineCount(_ channel: ChannelKey, _ done: @escaping Completion<Int>)
    /// Where the user is and isn't quiet, by type and name (P-36).
    func channels(of user: UserKey, _ done: @escaping Completion<[ChannelKey]>)
    /// Who is there, and the number of the channel's last event, which is contained as are all before it. Nil
    /// when more than so many are online, which is found out without looking at each.
    func snapshot(
        _ channel: ChannelKey, onlineMax: Int, _ done: @escaping Completion<RosterSnapshot?>)

    /// Keeps a lease alive; false until its edge has told all members under it (`synced`), and again when it
    /// has ended since.
    func renew(_ lease: UInt64, _ done: @escaping Completion<Bool>)
    /// An edge has told all members under its lease: the others are lost.
    func synced(
        _ lease: UInt64, except kept: Set<MemberKey>, _ done: @escaping Completion<Void>)

    /// The channel's events up to here are in its log, the last one at this position.
    func acknowledge(_ channel: ChannelKey, through sequence: UInt64, at position: StreamPosition)
    /// Does what is due. Called several times a second, the next time after it has completed.
    func sweep(_ done: @escaping Completion<Void>)

    var totals: PresenceTotals { get }
}

extension PresenceStore {
    package func start() {}
    package func shutdown() {}
}

/// Hears what happens to the rosters.
package protocol PresenceStoreObserver: AnyObject {
    /// Events to be appended to the channel's log, in this order, each once; none when the last one who goes
    /// was quiet.
    func rosterChanged(_ channel: ChannelKey, _ change: NumberedEvents)
    /// Leases have ended, and with them so many sessions in channels were lost.
    func leasesExpired(_ leases: Int)
}

package struct NumberedEvents: Sendable {
    /// The appender's number for messaging: with each event's sequence it makes the append idempotent.
    package var source: UInt64
    /// With their numbers, which grow within a source.
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
    /// By the users' bytes.
    package var users: [UserState]
    package var through: UInt64
    /// Where in the log that event is, if the store knows.
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

/// For metrics.
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
