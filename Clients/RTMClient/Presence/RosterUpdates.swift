import NIOConcurrencyHelpers
import RTMModel

/// How a roster changed.
public enum RosterChange: Sendable, Hashable {
    /// The members were replaced, by a snapshot or because there were too many changes for a slow consumer.
    case replaced
    /// This user has come.
    case joined(String)
    /// This user has gone.
    case left(String)
    /// The connection of this user was lost for too long.
    case timedOut(String)
    /// A user has other states now; these are all of them.
    case statesChanged(UserState)
    /// Nobody is known any more, because the subscription has ended or presence is not available.
    case cleared
}

/// Who is in a channel now, and what changed since the update before.
public struct RosterUpdate: Sendable, Hashable {
    /// Limit: changes that one update lists. Beyond it the update says `replaced` instead.
    public static let changesMax = 1_024

    /// States by user id. The own user is among them.
    public var members: [String: [String: String]]
    /// In the order in which they happened.
    public var changes: [RosterChange]

    /// Makes the value, as tests of apps do.
    public init(members: [String: [String: String]], changes: [RosterChange]) {
        self.members = members
        self.changes = changes
    }

    /// How many members there are.
    public var occupancy: Int { members.count }

    /// Puts both updates into one, with the members of the later one and the changes of both.
    mutating func merge(_ later: RosterUpdate) {
        members = later.members
        if later.changes.contains(.replaced) || changes.count + later.changes.count > Self.changesMax {
            changes = [.replaced]
        } else {
            changes += later.changes
        }
    }
}

/// The roster of one channel, update by update. See ``RTMClient/roster(of:)``.
public struct RosterUpdates: AsyncSequence, Sendable {
    public typealias Element = RosterUpdate
    public typealias Failure = Never

    let watcher: RosterWatcher

    public func makeAsyncIterator() -> Iterator { Iterator(watcher: watcher) }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let watcher: RosterWatcher

        /// Waits for the next update. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next() async -> RosterUpdate? { await watcher.next() }

        /// Waits for the next update. Returns `nil` after `close()`, and when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> RosterUpdate? {
            await watcher.next()
        }
    }
}

/// One consumer of a roster. What it hasn't taken yet is one update, and the next one is merged into it, so
/// that the consumer is never behind by more than one update.
final class RosterWatcher: Sendable {
    private struct Contents {
        var update: RosterUpdate?
        var isFinished = false
    }

    private let contents = NIOLockedValueBox(Contents())
    /// Says that there is something to look at. One unread signal is enough.
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func append(_ update: RosterUpdate) {
        contents.withLockedValue { contents in
            if contents.update == nil { contents.update = update } else { contents.update?.merge(update) }
        }
        signal.yield()
    }

    func finish() {
        contents.withLockedValue { $0.isFinished = true }
        signal.yield()
    }

    func next() async -> RosterUpdate? {
        var iterator = signals.makeAsyncIterator()
        while true {
            let (update, isFinished) = contents.withLockedValue { contents in
                defer { contents.update = nil }
                return (contents.update, contents.isFinished)
            }
            if let update { return update }
            if isFinished { return nil }
            if await iterator.next() == nil { return nil }
        }
    }
}

/// All consumers of rosters of one client. They are held weakly, so that a consumer that releases its
/// sequence is gone.
struct RosterWatchers {
    private struct Entry {
        weak var watcher: RosterWatcher?
    }

    private var entries: [ChannelID: [Entry]] = [:]

    mutating func add(_ watcher: RosterWatcher, for channel: ChannelID) {
        entries[channel, default: []].removeAll { $0.watcher == nil }
        entries[channel, default: []].append(Entry(watcher: watcher))
    }

    /// - Parameter members: `nil` if nobody is known.
    mutating func publish(
        _ members: [String: [String: String]]?, _ changes: [RosterChange], in channel: ChannelID
    ) {
        guard !changes.isEmpty, let watching = entries[channel] else { return }
        let update = RosterUpdate(members: members ?? [:], changes: changes)
        for entry in watching { entry.watcher?.append(update) }
        let remaining = watching.filter { $0.watcher != nil }
        entries[channel] = remaining.isEmpty ? nil : remaining
    }

    mutating func finish() {
        for entry in entries.values.joined() { entry.watcher?.finish() }
        entries = [:]
    }
}
