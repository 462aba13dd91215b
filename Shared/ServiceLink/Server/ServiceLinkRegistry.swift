import NIOCore
import RTMWire
import Synchronization

/// The links of a server on all its event loops, for the limits and for draining. It is touched when a link
/// opens or closes, never for a message.
///
/// Strangers are connections in their handshake. They have limits of their own, so that they can't take the
/// places of callers that know the secret.
final class ServiceLinkRegistry: Sendable {
    private struct State {
        var links: [UInt64: NIOLoopBound<AcceptedServiceLink>] = [:]
        /// The addresses of the connections in their handshake.
        var strangers: [UInt64: String] = [:]
        var strangersByAddress: [String: Int] = [:]
        /// The links that are relays to other nodes.
        var relays: Set<UInt64> = []
        var lastID: UInt64 = 0
        var isDraining = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var nextRefusalLine = NIODeadline.distantPast
        var refusalsOmitted = 0

        mutating func removeStranger(_ id: UInt64) {
            guard let address = strangers.removeValue(forKey: id) else { return }
            let rest = strangersByAddress[address, default: 1] - 1
            strangersByAddress[address] = rest > 0 ? rest : nil
        }
    }

    private let configuration: ServiceLinkServerConfiguration
    private let state = Mutex(State())

    init(_ configuration: ServiceLinkServerConfiguration) { self.configuration = configuration }

    func makeID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    /// Links that are open or in their handshake.
    var count: Int { state.withLock { $0.links.count } }

    /// Nil if there is room for one more stranger. Call it on the link's loop.
    func connect(_ link: AcceptedServiceLink, from address: String) -> ServiceLinkGoAway? {
        let bound = NIOLoopBound(link, eventLoop: link.eventLoop)
        let id = link.id
        return state.withLock { state in
            if state.isDraining { return ServiceLinkGoAway(.draining) }
            let isFull =
                state.strangers.count >= configuration.strangersMax
                || !address.isEmpty
                    && state.strangersByAddress[address, default: 0] >= configuration.strangersPerAddressMax
            if isFull { return ServiceLinkGoAway(.overflow, "too many connections are in their handshake") }
            state.links[id] = bound
            state.strangers[id] = address
            state.strangersByAddress[address, default: 0] += 1
            return nil
        }
    }

    /// The stranger has proved who it is. Nil if there is room for one more link.
    func admit(_ link: AcceptedServiceLink) -> ServiceLinkGoAway? {
        let id = link.id
        return state.withLock { state in
            state.removeStranger(id)
            let open = state.links.count - state.strangers.count
            guard open > configuration.linksMax else { return nil }
            return ServiceLinkGoAway(.overflow, "all \(configuration.linksMax) links are taken")
        }
    }

    /// Nil if there is room for one more relay.
    func addRelay(_ link: AcceptedServiceLink, countMax: Int) -> ServiceLinkGoAway? {
        let id = link.id
        return state.withLock { state in
            guard state.relays.count < countMax else {
                let text = "all \(countMax) relays of this node are taken; ask again in a second"
                return ServiceLinkGoAway(.overflow, text)
            }
            state.relays.insert(id)
            return nil
        }
    }

    /// Nil if the line is left out; otherwise how many were left out before it. There is one line a second.
    func mayLogRefusal(now: NIODeadline) -> Int? {
        state.withLock { state in
            guard now >= state.nextRefusalLine else {
                state.refusalsOmitted += 1
                return nil
            }
            state.nextRefusalLine = now + .seconds(1)
            defer { state.refusalsOmitted = 0 }
            return state.refusalsOmitted
        }
    }

    func remove(_ link: AcceptedServiceLink) {
        let id = link.id
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.removeStranger(id)
            state.links[id] = nil
            state.relays.remove(id)
            guard state.isDraining, state.links.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Lets every link tell its caller that the server drains, and returns when the last link has closed.
    func drain() async {
        let links = state.withLock { state in
            state.isDraining = true
            return Array(state.links.values)
        }
        for link in links { link.eventLoop.execute { link.value.close() } }
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            let isEmpty = state.withLock { state in
                if !state.links.isEmpty { state.waiting.append(waiter) }
                return state.links.isEmpty
            }
            if isEmpty { waiter.resume() }
        }
    }
}
