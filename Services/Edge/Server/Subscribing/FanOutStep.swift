import NIOCore
import RTMModel
package import RTMWire

/// The fan-out of one loop by itself, with sessions that only count what they are sent: what the
/// micro-benchmarks measure. Nothing in a server uses it.
package struct FanOutStep {
    private var index = SubscriptionIndex()
    private let subscribersPerChannel: Int
    private let counter = CountingConnection()
    private var channels = 0
    private var sessions: UInt64 = 0

    package init(subscribersPerChannel: Int) { self.subscribersPerChannel = subscribersPerChannel }

    /// Entries handed to sessions, and how many bytes they were.
    package var deliveries: Int { index.deliveries }
    package var bytes: Int { counter.bytes }

    /// A channel that is attached and has its subscribers; returns the number that its entries come under.
    package mutating func addChannel() -> UInt64 {
        channels += 1
        let key = ChannelKey(appID: "dev", type: .message, name: "channel-\(channels)")
        var interest: UInt64 = 0
        for _ in 0..<subscribersPerChannel {
            let pending = PendingSubscribe(
                session: session(), requestID: 1, features: .message, after: nil, purpose: .subscribe)
            switch index.enter(pending, key) {
            case .attach(let request):
                interest = request.interest
                let position = StreamPosition(epoch: 1, offset: 0)
                guard let attached = index.attached(interest, AttachResponse(position: position, gap: false))
                else { continue }
                for pending in attached.waiting { _ = index.admit(pending, at: attached.place) }
            case .proceed(let place):
                _ = index.admit(pending, at: place)
            case .wait:
                preconditionFailure("a channel that was answered for lets nobody wait")
            }
        }
        return interest
    }

    package mutating func gather(_ delivery: DeliveryPush) { index.gather(delivery) }

    package mutating func flush() { index.flush() }

    private mutating func session() -> Session {
        sessions += 1
        return Session(
            id: SessionID(rawValue: sessions),
            application: Application(id: "dev", certificate: nil, subscriptionsMax: 1, rates: .unlimited),
            userID: "user-\(sessions)", heartbeatInterval: 30, connection: counter)
    }
}

private final class CountingConnection: SessionConnection {
    private(set) var bytes = 0

    private var outbound = ByteBuffer()

    func send(_ frames: ByteBuffer) { bytes += frames.readableBytes }

    func write(_ encode: (inout ByteBuffer) -> Void) {
        outbound.clear()
        encode(&outbound)
        bytes += outbound.readableBytes
    }

    func loginSucceeded(
        _ session: Session, inbox position: StreamPosition, gap: Bool, _ requestID: UInt64
    ) {}
    func refuseLogin(_ error: RTMError, _ requestID: UInt64) {}
    var hasRoom: Bool { true }
    func whenRoom(_ body: @escaping () -> Void) { body() }
    func disconnect(_ reason: Disconnect) {}
    func replaced() {}
}
