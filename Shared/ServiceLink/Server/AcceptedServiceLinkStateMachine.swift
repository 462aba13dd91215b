import NIOCore
import RTMWire

/// The called end of a link: it checks the hello, asks for a proof and checks it, then the link stays open
/// while the peer lives. The type is pure.
struct AcceptedServiceLinkStateMachine {
    private enum State {
        /// The caller has connected and has to say who it is. Followed by `awaitingProof`, or the end.
        case awaitingHello(until: NIODeadline)
        /// The caller has to prove that it knows the secret. Followed by `open`, or the end.
        case awaitingProof(until: NIODeadline, ServiceLinkHandshake)
        /// The caller is admitted. Requests and pushes flow.
        case open(ServiceLinkLiveness)
    }

    private let configuration: ServiceLinkServerConfiguration
    private var state: State

    init(_ configuration: ServiceLinkServerConfiguration, now: NIODeadline) {
        self.configuration = configuration
        state = .awaitingHello(until: now + TimeAmount(configuration.link.handshakeTimeout))
    }

    var isOpen: Bool { if case .open = state { true } else { false } }

    var nextWake: NIODeadline {
        switch state {
        case .awaitingHello(let until), .awaitingProof(let until, _): until
        case .open(let liveness): liveness.nextWake
        }
    }

    enum HelloAction: Equatable {
        case challenge(ServiceLinkChallenge)
        case refuse(ServiceLinkGoAway)
        case unexpected
    }

    /// - Parameter nonce: random bytes.
    mutating func greeted(_ hello: ServiceLinkHello, nonce: [UInt8]) -> HelloAction {
        guard case .awaitingHello(let until) = state else { return .unexpected }
        let admission = ServiceLinkAdmission(service: configuration.service, shards: configuration.shards)
        if let refusal = admission.refusal(of: hello) { return .refuse(refusal) }
        let challenge = ServiceLinkChallenge(nonce: nonce)
        state = .awaitingProof(until: until, ServiceLinkHandshake(hello: hello, challenge: challenge))
        return .challenge(challenge)
    }

    enum ProofAction: Equatable {
        /// The caller has said this about itself.
        case welcome(ServiceLinkWelcome, ServiceLinkHello)
        case refuse(ServiceLinkGoAway, node: String)
        case unexpected
    }

    mutating func proved(_ proof: ServiceLinkProof, now: NIODeadline) -> ProofAction {
        guard case .awaitingProof(_, let handshake) = state else { return .unexpected }
        let secret = configuration.link.secret.revealed
        guard handshake.isRight(proof, secret) else {
            let goAway = ServiceLinkGoAway(.wrongSecret, "the secret is not that of this installation")
            return .refuse(goAway, node: handshake.hello.node)
        }
        state = .open(ServiceLinkLiveness(configuration.link, now: now))
        let welcome = ServiceLinkWelcome(
            version: ServiceLinkVersion.current, service: configuration.service,
            incarnation: configuration.incarnation,
            proof: handshake.serviceProof(
                secret, incarnation: configuration.incarnation, shards: UInt32(configuration.shards)),
            shards: UInt32(configuration.shards), announcesLeader: configuration.announcesLeader)
        return .welcome(welcome, handshake.hello)
    }

    /// Returns whether the next wake-up is earlier than before.
    mutating func bytesReceived(now: NIODeadline) -> Bool {
        guard case .open(var liveness) = state else { return false }
        defer { state = .open(liveness) }
        return liveness.bytesReceived(now: now)
    }

    enum WakeAction: Equatable {
        case none
        case sendHeartbeat
        case close(ServiceLinkDownReason)
    }

    mutating func wake(now: NIODeadline) -> WakeAction {
        switch state {
        case .awaitingHello(let until), .awaitingProof(let until, _):
            return now >= until ? .close(.handshakeTimedOut) : .none
        case .open(var liveness):
            let action = liveness.wake(now: now)
            state = .open(liveness)
            switch action {
            case .none: return .none
            case .sendHeartbeat: return .sendHeartbeat
            case .silent: return .close(.silent)
            }
        }
    }
}

/// Whether a caller may use this service: version, service and shard must be ours. The type is pure.
struct ServiceLinkAdmission {
    let service: String
    let shards: Int

    /// Nil if the caller may prove that it knows the secret.
    func refusal(of hello: ServiceLinkHello) -> ServiceLinkGoAway? {
        guard hello.version == ServiceLinkVersion.current else {
            return ServiceLinkGoAway(
                .version, "this service speaks version \(ServiceLinkVersion.current), not \(hello.version)")
        }
        guard hello.service == service else {
            return ServiceLinkGoAway(.wrongService, "this is \(service), not \(hello.service.prefix(32))")
        }
        guard hello.shard < shards else {
            return ServiceLinkGoAway(.wrongService, "\(service) has \(shards) shards, none is \(hello.shard)")
        }
        guard hello.nonce.count == ServiceLinkHandshake.nonceBytesCount else {
            return ServiceLinkGoAway(
                .protocolError, "a nonce has \(ServiceLinkHandshake.nonceBytesCount) bytes")
        }
        return nil
    }
}
