import NIOCore
import RTMWire

/// The calling end of a link: it connects, greets, stays alive and comes back. The type is pure: it gets
/// what happened and when, and returns what to do; `ServiceLinkClient` does it.
///
///     idle → connecting → greeting → proving → up
///              ↑    └─────────┴─────────┴──────┴→ waiting (back-off) → connecting …
///     every state → stopped
struct ServiceLinkStateMachine {
    private enum State {
        /// `start` has not been called. Only connecting and stopped follow.
        case idle
        /// An attempt to connect is under way.
        case connecting(until: NIODeadline)
        /// The connection is there and the hello is sent. The peer's challenge is awaited.
        case greeting(until: NIODeadline, ServiceLinkHello)
        /// The proof is sent. The peer's welcome is awaited.
        case proving(until: NIODeadline, ServiceLinkHandshake)
        /// The peer has said welcome, and requests flow.
        case up(ServiceLinkLiveness)
        /// The last attempt failed or the link was lost. The next attempt comes after a pause.
        case waiting(until: NIODeadline)
        /// `stop` was called. Nothing follows.
        case stopped
    }

    private let configuration: ServiceLinkClientConfiguration
    private var state = State.idle
    private var backoff: Backoff
    /// The peer's incarnation when the link was last up.
    private(set) var incarnation: UInt64?

    init(_ configuration: ServiceLinkClientConfiguration) {
        self.configuration = configuration
        backoff = configuration.backoff
    }

    var isUp: Bool { if case .up = state { true } else { false } }

    /// The earliest time at which `wake` has something to do.
    var nextWake: NIODeadline? {
        switch state {
        case .idle, .stopped: nil
        case .connecting(let until), .greeting(let until, _), .proving(let until, _), .waiting(let until):
            until
        case .up(let liveness): liveness.nextWake
        }
    }

    /// Returns whether to connect now.
    mutating func start(now: NIODeadline) -> Bool {
        guard case .idle = state else { return false }
        connect(now: now)
        return true
    }

    private mutating func connect(now: NIODeadline) {
        state = .connecting(until: now + TimeAmount(configuration.connectTimeout))
    }

    /// What to say on the new connection; nil if it isn't wanted any more.
    ///
    /// - Parameter nonce: random bytes.
    mutating func opened(now: NIODeadline, nonce: [UInt8]) -> ServiceLinkHello? {
        guard case .connecting = state else { return nil }
        let hello = ServiceLinkHello(
            version: ServiceLinkVersion.current, service: configuration.service, node: configuration.node,
            nonce: nonce, shard: UInt32(configuration.shard), relayTo: configuration.relayTo)
        state = .greeting(until: now + TimeAmount(configuration.link.handshakeTimeout), hello)
        return hello
    }

    /// The proof that the service asks for; nil if nobody waits for a challenge.
    mutating func challenged(_ challenge: ServiceLinkChallenge) -> ServiceLinkProof? {
        guard case .greeting(let until, let hello) = state else { return nil }
        let handshake = ServiceLinkHandshake(hello: hello, challenge: challenge)
        state = .proving(until: until, handshake)
        return handshake.callerProof(configuration.link.secret.revealed)
    }

    enum WelcomeAction: Equatable {
        case up(ServiceLinkPeer)
        /// Close the connection and send this. `lost` follows.
        case refuse(ServiceLinkGoAway)
        /// A welcome that nobody waits for.
        case unexpected
    }

    mutating func welcomed(_ welcome: ServiceLinkWelcome, now: NIODeadline) -> WelcomeAction {
        guard case .proving(_, let handshake) = state else { return .unexpected }
        guard welcome.version == ServiceLinkVersion.current else {
            let text = "this caller speaks version \(ServiceLinkVersion.current), not \(welcome.version)"
            return .refuse(ServiceLinkGoAway(.version, text))
        }
        guard welcome.service == configuration.service else {
            let text = "\(configuration.service) was expected, not \(welcome.service)"
            return .refuse(ServiceLinkGoAway(.wrongService, text))
        }
        guard handshake.isRight(welcome, configuration.link.secret.revealed) else {
            return .refuse(ServiceLinkGoAway(.wrongSecret, Self.wrongSecret))
        }
        let hasChanged = incarnation.map { $0 != welcome.incarnation } ?? false
        let peer = ServiceLinkPeer(
            incarnation: welcome.incarnation, isFirst: incarnation == nil, hasChanged: hasChanged,
            shards: max(1, Int(welcome.shards)), announcesLeader: welcome.announcesLeader)
        incarnation = welcome.incarnation
        backoff.reset()
        state = .up(ServiceLinkLiveness(configuration.link, now: now))
        return .up(peer)
    }

    private static let wrongSecret = "the service does not know the secret of this installation"

    /// Returns whether the next wake-up is earlier than before.
    mutating func bytesReceived(now: NIODeadline) -> Bool {
        guard case .up(var liveness) = state else { return false }
        defer { state = .up(liveness) }
        return liveness.bytesReceived(now: now)
    }

    /// The connection ended or didn't come about. Returns whether the link was up. `wake` starts the next
    /// attempt.
    mutating func lost(now: NIODeadline, random: Double) -> Bool {
        let wasUp = isUp
        switch state {
        case .connecting, .greeting, .proving, .up:
            state = .waiting(until: now + TimeAmount(backoff.next(random: random)))
        case .idle, .waiting, .stopped:
            break
        }
        return wasUp
    }

    enum WakeAction: Equatable {
        case none
        case connect
        case sendHeartbeat
        /// Close the connection for this reason. `lost` follows.
        case close(ServiceLinkDownReason)
    }

    mutating func wake(now: NIODeadline) -> WakeAction {
        switch state {
        case .idle, .stopped:
            return .none
        case .waiting(let until):
            guard now >= until else { return .none }
            connect(now: now)
            return .connect
        case .connecting(let until):
            return now >= until
                ? .close(.connectFailed("no answer in \(configuration.connectTimeout)")) : .none
        case .greeting(let until, _), .proving(let until, _):
            return now >= until ? .close(.handshakeTimedOut) : .none
        case .up(var liveness):
            let action = liveness.wake(now: now)
            state = .up(liveness)
            switch action {
            case .none: return .none
            case .sendHeartbeat: return .sendHeartbeat
            case .silent: return .close(.silent)
            }
        }
    }

    /// Returns whether the link was up. Nothing happens afterwards.
    mutating func stop() -> Bool {
        let wasUp = isUp
        state = .stopped
        return wasUp
    }
}

/// What a client learns of the process at the other end when the link comes up.
package struct ServiceLinkPeer: Sendable, Hashable {
    package let incarnation: UInt64
    /// Whether the link is up for the first time.
    package let isFirst: Bool
    /// Whether it is another process than last time, which knows nothing of what we said before.
    package let hasChanged: Bool
    /// Among how many shards the service spreads what it keeps.
    package let shards: Int
    /// Whether a storage node serves only while it announces that it leads.
    package let announcesLeader: Bool

    package init(
        incarnation: UInt64, isFirst: Bool, hasChanged: Bool, shards: Int = 1, announcesLeader: Bool = false
    ) {
        self.incarnation = incarnation
        self.isFirst = isFirst
        self.hasChanged = hasChanged
        self.shards = shards
        self.announcesLeader = announcesLeader
    }
}
