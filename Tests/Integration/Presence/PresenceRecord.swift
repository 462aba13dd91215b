import RTMClient
import RTMTestSupport
import Synchronization
import Testing

/// All presence events of one client, in order and with their times, as texts that tests compare.
final class PresenceRecord: Sendable {
    struct Entry: Sendable, Hashable {
        var channel: String
        var text: String
        var at: ContinuousClock.Instant
    }

    private let entries = Mutex<[Entry]>([])
    private let reading = Mutex<Task<Void, Never>?>(nil)

    /// Records events until the client is closed.
    init(_ client: RTMClient) {
        let events = client.events()
        // Unstructured: it ends with the client's events.
        let task = Task { [self] in
            for await event in events {
                guard case .presence(let presence) = event else { continue }
                let entry = Entry(
                    channel: presence.channelName, text: presence.change.text, at: ContinuousClock.now)
                entries.withLock { $0.append(entry) }
            }
        }
        reading.withLock { $0 = task }
    }

    var all: [Entry] { entries.withLock { $0 } }

    /// The events of a channel.
    func texts(of channel: String = "lobby") -> [String] {
        all.filter { $0.channel == channel }.map(\.text)
    }

    /// Waits for as many events as are given, and checks that they are these, in this order.
    func expect(
        _ texts: [String], in channel: String = "lobby", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await eventually("\(texts)", sourceLocation: sourceLocation) {
            self.texts(of: channel).count >= texts.count
        }
        #expect(self.texts(of: channel) == texts, sourceLocation: sourceLocation)
    }

    /// Waits for this event, whatever comes before it, and returns when it came.
    @discardableResult
    func first(
        _ text: String, in channel: String = "lobby", within limit: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ContinuousClock.Instant {
        var found: Entry?
        try await eventually(text, within: limit, sourceLocation: sourceLocation) {
            found = all.first { $0.channel == channel && $0.text == text }
            return found != nil
        }
        return found?.at ?? .now
    }
}

extension PresenceEvent.Change {
    /// The text of an event: "join ben", "state ben mood=good", "snapshot anna ben[mood=good]".
    fileprivate var text: String {
        switch self {
        case .snapshot(let users): (["snapshot"] + users.map(\.text)).joined(separator: " ")
        case .interval(let interval):
            (["interval"] + interval.joined.map { "+\($0)" } + interval.left.map { "-\($0)" }
                + interval.timedOut.map { "!\($0)" } + interval.states.map(\.text))
                .joined(separator: " ")
        case .joined(let user, let states): "join \(UserState(userID: user, states: states).text)"
        case .left(let user): "leave \(user)"
        case .timedOut(let user): "timeout \(user)"
        case .statesChanged(let user): "state \(user.text)"
        case .outage(let cause): "out of service: \(cause)"
        }
    }
}

extension UserState {
    fileprivate var text: String {
        guard !states.isEmpty else { return userID }
        let items = states.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return "\(userID)[\(items.joined(separator: ","))]"
    }
}
