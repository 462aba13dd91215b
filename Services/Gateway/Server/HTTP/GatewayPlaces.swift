import NIOCore
import RTMServiceKit
import RTMServiceLink
import Synchronization

/// The places that a listener has for connections, and the memory for what they leave unread.
///
/// A connection without a credential costs whoever opens it nothing, so it keeps nobody out: when all places
/// are taken, in all or by one address, the oldest such connection goes. Without memory for what is unread,
/// those that hold the most go.
///
/// All event loops share it. It is touched when a connection begins and ends, with its first credential, and
/// when what it leaves unread changes.
final class GatewayPlaces: Sendable {
    struct Limits: Sendable {
        var connectionsMax = 10_000
        var perAddressMax = 2_000
        /// How many connections beyond that may get an answer at a time.
        var refusedMax = Int.max
        /// How long a client may leave what waits for it unread.
        var readingTimeout = TimeAmount.seconds(30)
        /// Bytes that all connections together may leave unread.
        var unreadBytesMax = 256 << 20
    }

    fileprivate struct State {
        var unauthenticated = PendingConnections<GatewayPlace>()
        var budget: UnreadBudget
        /// Those that leave something unread.
        var holders: [ObjectIdentifier: GatewayPlace] = [:]
    }

    let limits: Limits
    private let limiter: ConnectionLimiter
    private let state: Mutex<State>
    private let metrics: GatewayMetrics
    /// Called whenever a newcomer replaces a connection.
    private let crowded: @Sendable () -> Void

    init(_ limits: Limits, _ metrics: GatewayMetrics, crowded: @escaping @Sendable () -> Void) {
        self.limits = limits
        self.metrics = metrics
        self.crowded = crowded
        limiter = ConnectionLimiter(
            totalMax: limits.connectionsMax, perAddressMax: limits.perAddressMax,
            refusedMax: limits.refusedMax)
        state = Mutex(State(budget: UnreadBudget(bytesMax: limits.unreadBytesMax)))
    }

    enum Admission {
        case admitted(GatewayPlace)
        case refused(reason: String)
        /// It is closed without an answer.
        case dropped
    }

    func admit(_ channel: any Channel) -> Admission {
        let address = channel.remoteAddress?.ipAddress ?? ""
        switch limiter.admit(address, makingRoom: endOldest) {
        case .admitted:
            let place = GatewayPlace(of: channel, at: address, limiter)
            state.withLock { $0.unauthenticated.add(place) }
            channel.closeFuture.whenComplete { [self] _ in left(place) }
            return .admitted(place)
        case .refused(let reason):
            metrics.ended(.refused)
            channel.closeFuture.whenComplete { [limiter] _ in limiter.releaseRefused() }
            return .refused(reason: reason)
        case .dropped:
            metrics.ended(.refused)
            return .dropped
        }
    }

    private func left(_ place: GatewayPlace) {
        place.release()
        holds(place, 0)
        state.withLock { $0.unauthenticated.trim() }
    }

    private func endOldest(from address: String?) -> Bool {
        guard let oldest = state.withLock({ $0.unauthenticated.takeOldest(from: address) }) else {
            return false
        }
        metrics.ended(.replaced)
        oldest.end()
        crowded()
        return true
    }

    /// The connection leaves so many bytes unread, or makes the gateway hold them.
    func holds(_ place: GatewayPlace, _ bytes: Int) {
        let change = place.holds(bytes)
        guard change != 0 else { return }
        let ended = state.withLock { state -> [GatewayPlace] in
            state.budget.change(by: change)
            state.holders[ObjectIdentifier(place)] = bytes > 0 ? place : nil
            let ended = state.budget.isOver ? state.relieve() : []
            metrics.unreadBytes.set(state.budget.bytes)
            return ended
        }
        for place in ended {
            metrics.ended(.overfull)
            place.end()
        }
    }

    /// The client has left what waits for it unread for too long.
    func isDeaf(_ place: GatewayPlace) {
        metrics.ended(.unread)
        place.end()
    }
}

extension GatewayPlaces.State {
    /// Takes out those that hold the most, until the others have room.
    fileprivate mutating func relieve() -> [GatewayPlace] {
        let all = holders.map { (key: $0.key, bytes: $0.value.heldBytes) }
        var ended: [GatewayPlace] = []
        for key in UnreadBudget.largestFirst(all) where !budget.isRelieved {
            guard let place = holders.removeValue(forKey: key) else { continue }
            budget.change(by: -place.heldBytes)
            place.forgetHeld()
            ended.append(place)
        }
        return ended
    }
}

/// The place of one connection.
final class GatewayPlace: PendingConnection, Sendable {
    private struct State {
        /// Nil once the place is free again.
        var limiter: ConnectionLimiter?
        var hasCredential = false
        var heldBytes = 0
        /// What it holds is not counted any more, because it ends.
        var isForgotten = false
    }

    let address: String
    private let channel: any Channel
    private let state: Mutex<State>

    init(of channel: any Channel, at address: String, _ limiter: ConnectionLimiter) {
        (self.channel, self.address) = (channel, address)
        state = Mutex(State(limiter: limiter))
    }

    var isUnauthenticated: Bool { state.withLock { $0.limiter != nil && !$0.hasCredential } }
    var heldBytes: Int { state.withLock { $0.heldBytes } }

    /// A key or a token came over the connection and was accepted.
    func credentialAccepted() { state.withLock { $0.hasCredential = true } }

    /// - Returns: by how much what it holds has changed.
    fileprivate func holds(_ bytes: Int) -> Int {
        state.withLock { state in
            guard !state.isForgotten else { return 0 }
            defer { state.heldBytes = bytes }
            return bytes - state.heldBytes
        }
    }

    fileprivate func forgetHeld() {
        state.withLock { state in (state.isForgotten, state.heldBytes) = (true, 0) }
    }

    fileprivate func release() { state.withLock { $0.limiter.take() }?.release(address) }

    /// Ends the connection. Its place is free afterwards, and its descriptor a moment later.
    fileprivate func end() {
        release()
        let channel = channel
        channel.eventLoop.execute { channel.closeAtOnce() }
    }
}
