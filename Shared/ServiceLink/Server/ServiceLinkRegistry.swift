import NIOCore
import RTMWire
import Synchronization

/// The links of a server on all its event loops, for the limits and for draining. It is touched when a link
/// opens or closes, never for a message.
///
/// Connections in their handshake have limits of their own (`UnauthenticatedConnections`), and don't count as
/// links.
final class ServiceLinkRegistry: Sendable {
    private struct State {
        var links: [UInt64: NIOLoopBound<AcceptedServiceLink>] = [:]
        /// Those whose callers have been admitted.
        var open: Set<UInt64> = []
        /// The links that are relays to other nodes.
        var relays: Set<UInt64> = []
        var lastID: UInt64 = 0
        var isDraining = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var nextRefusalLine = NIODeadline.distantPast
        var refusalsOmitted = 0
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

    /// Nil if the connection may stay for its handshake. Call it on the link's loop.
    func connect(_ link: AcceptedServiceLink) -> ServiceLinkGoAway? {
        let bound = NIOLoopBound(link, eventLoop: link.eventLoop)
        let id = link.id
        return state.withLock { state in
            if state.isDraining { return ServiceLinkGoAway(.draining) }
            state.links[id] = bound
            return nil
        }
    }

    /// The caller has proved who it is. Nil if one more link is allowed.
    func admit(_ link: AcceptedServiceLink) -> ServiceLinkGoAway? {
        let id = link.id
        return state.withLock { state in
            guard state.open.count < configuration.linksMax else {
                return ServiceLinkGoAway(.overflow, "all \(configuration.linksMax) links are taken")
            }
            state.open.insert(id)
            return nil
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
            state.open.remove(id)
            state.links[id] = nil
            state.relays.remove(id)
            guard state.isDraining, state.links.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Lets every link send its caller that the server drains, and returns when the last link has closed.
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
