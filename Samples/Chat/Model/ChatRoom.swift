public import Observation
public import RTMClient

/// What the screen of a chat shows, and what can be done there. A view observes it.
///
/// The room reads the client's events until it is closed. A test gives it a configuration of a `TestWorld`.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@MainActor @Observable
public final class ChatRoom {
    public struct Line: Identifiable, Equatable, Sendable {
        public enum Content: Equatable, Sendable {
            case text(String, author: String)
            case joined(String)
            case left(String)
            /// Some lines could not be brought here any more.
            case gap
        }

        public let id: Int
        public let content: Content
    }

    public enum Connection: Equatable, Sendable {
        case connecting, connected, offline
        /// It won't come back by itself, and why.
        case ended(String)
    }

    public private(set) var lines: [Line] = []
    public private(set) var members: [String] = []
    public private(set) var connection = Connection.offline
    /// What could not be sent, and why.
    public private(set) var failure: String?

    private let client: RTMClient
    private let channel: String
    private let newToken: @Sendable () async throws -> String
    private var readers: [Task<Void, Never>] = []

    /// - Parameter newToken: asks the app's own server for a token, when the old one is about to expire.
    public init(
        _ configuration: RTMClient.Configuration, channel: String,
        newToken: @escaping @Sendable () async throws -> String = { "" }
    ) throws {
        client = try RTMClient(configuration)
        self.channel = channel
        self.newToken = newToken
    }

    public func open() async {
        read()
        do {
            try await client.login()
            try await client.subscribe(to: channel, features: [.message, .presence])
        } catch {
            connection = .ended(error.reason)
        }
    }

    public func send(_ text: String) async {
        do {
            try await client.publish(text, to: .channel(channel))
            failure = nil
            // A publisher isn't given its own messages.
            add(.text(text, author: client.configuration.userID))
        } catch {
            failure = error.reason
        }
    }

    public func close() async {
        await client.close()
        for reader in readers { await reader.value }
        readers = []
        connection = .offline
    }

    private func read() {
        let (events, roster) = (client.events(), client.roster(of: channel))
        readers = [
            // Unstructured: it ends with the client.
            Task { [weak self] in
                for await event in events { await self?.take(event) }
            },
            // Unstructured: it ends with the client.
            Task { [weak self] in
                for await update in roster { self?.take(update) }
            },
        ]
    }

    private func take(_ event: RTMEvent) async {
        switch event {
        case .message(let message):
            guard message.channelName == channel, let text = message.text else { return }
            add(.text(text, author: message.publisher))
        case .gap(let gap) where gap.channelName == channel: add(.gap)
        case .linkState(let change): connection = Connection(change)
        case .tokenWillExpire: await renew()
        default: break
        }
    }

    private func take(_ update: RosterUpdate) {
        members = update.members.keys.sorted()
        for change in update.changes {
            switch change {
            case .joined(let user): add(.joined(user))
            case .left(let user), .timedOut(let user): add(.left(user))
            case .replaced, .statesChanged, .cleared: break
            }
        }
    }

    private func renew() async {
        do {
            try await client.renewToken(try await newToken())
        } catch {
            failure = "the token was not renewed: \(error)"
        }
    }

    private func add(_ content: Line.Content) { lines.append(Line(id: lines.count, content: content)) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension ChatRoom.Connection {
    fileprivate init(_ change: LinkStateEvent) {
        switch change.currentState {
        case .connected: self = .connected
        case .connecting: self = .connecting
        case .disconnected, .suspended: self = .offline
        case .failed: self = .ended(change.reason)
        default: self = .offline
        }
    }
}
