import NIOCore
import RTMWire
import Synchronization

/// The links of a server on all its event loops, for the limit and for draining. It is touched when a link
/// opens or closes, never for a message.
final class ServiceLinkRegistry: Sendable {
    private struct State {
        var links: [UInt64: NIOLoopBound<AcceptedServiceLink>] = [:]
        /// Links that are in their handshake.
        var strangers: Set<UInt64> = []
        var lastID: UInt64 = 0
        var isDraining = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let linksMax: Int
    private let strangersMax: Int
    private let state = Mutex(State())

    init(linksMax: Int, strangersMax: Int) {
        self.linksMax = linksMax
        self.strangersMax = strangersMax
    }

    func makeID() -> UInt64 {
        state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    var count: Int { state.withLock { $0.links.count } }

    /// Nil if there is room. Call it on the link's loop.
    func add(_ link: AcceptedServiceLink) -> ServiceLinkGoAway? {
        let bound = NIOLoopBound(link, eventLoop: link.eventLoop)
        let id = link.id
        return state.withLock { state in
            if state.isDraining { return ServiceLinkGoAway(.draining) }
            if state.links.count >= linksMax {
                return ServiceLinkGoAway(.overflow, "all \(linksMax) links are taken")
            }
            if state.strangers.count >= strangersMax {
                return ServiceLinkGoAway(.overflow, "\(strangersMax) callers are in their handshake")
            }
            state.links[id] = bound
            state.strangers.insert(id)
            return nil
        }
    }

    /// The link's caller has said who it is.
    func admitted(_ link: AcceptedServiceLink) {
        let id = link.id
        state.withLock { _ = $0.strangers.remove(id) }
    }

    func remove(_ link: AcceptedServiceLink) {
        let id = link.id
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.links[id] = nil
            state.strangers.remove(id)
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
