import NIOCore
import RTMWire

/// The called end of a link: it checks the hello, then the link stays open while the peer lives. The type is
/// pure.
struct AcceptedServiceLinkStateMachine {
    private enum State {
        /// The caller has connected and has to say who it is.
        case awaitingHello(until: NIODeadline)
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
        case .awaitingHello(let until): until
        case .open(let liveness): liveness.nextWake
        }
    }

    enum HelloAction: Equatable {
        case welcome(ServiceLinkWelcome)
        case refuse(ServiceLinkGoAway)
        case unexpected
    }

    mutating func greeted(_ hello: ServiceLinkHello, now: NIODeadline) -> HelloAction {
        guard case .awaitingHello = state else { return .unexpected }
        let admission = ServiceLinkAdmission(
            service: configuration.service, secret: configuration.link.secret)
        if let refusal = admission.refusal(of: hello) { return .refuse(refusal) }
        state = .open(ServiceLinkLiveness(configuration.link, now: now))
        return .welcome(
            ServiceLinkWelcome(
                version: ServiceLinkVersion.current, service: configuration.service,
                incarnation: configuration.incarnation))
    }

    /// Returns whether the next wake-up is earlier than before.
    mutating func heard(now: NIODeadline) -> Bool {
        guard case .open(var liveness) = state else { return false }
        defer { state = .open(liveness) }
        return liveness.heard(now: now)
    }

    enum WakeAction: Equatable {
        case none
        case sendHeartbeat
        case close(ServiceLinkDownReason)
    }

    mutating func wake(now: NIODeadline) -> WakeAction {
        switch state {
        case .awaitingHello(let until):
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
