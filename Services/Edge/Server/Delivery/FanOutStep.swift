import NIOCore
import RTMModel
package import RTMWire

/// The fan-out of one loop by itself, with sessions that only count what they are sent. The micro-benchmarks
/// measure it, and nothing in a server uses it. It is in this target because the types that it drives are
/// internal, and a release build has no `@testable`: opening them to the package would change what the
/// compiler can inline, and so the numbers.
package struct FanOutStep {
    private var index = SubscriptionIndex()
    private var connections = SessionConnections()
    private let subscribersPerChannel: Int
    private let counter = CountingConnection()
    private var channels = 0
    private var sessions: UInt64 = 0
    /// Entries handed to sessions.
    package private(set) var deliveries = 0

    package init(subscribersPerChannel: Int) { self.subscribersPerChannel = subscribersPerChannel }

    /// How many bytes the entries were.
    package var bytes: Int { counter.bytes }

    /// A channel that is attached and has its subscribers; returns the number that its entries come under.
    package mutating func addChannel() -> UInt64 {
        channels += 1
        let channel = ChannelKey(appID: "dev", type: .message, name: "channel-\(channels)")
        var interest: UInt64 = 0
        for _ in 0..<subscribersPerChannel {
            let request = SubscribeRequest(
                session: session(), requestID: 1, channel: channel, purpose: .subscribe, features: .message,
                after: nil)
            perform(index.enter(request), &interest)
        }
        return interest
    }

    /// Messaging and presence answer at once.
    private mutating func perform(_ actions: SubscribeActions, _ interest: inout UInt64) {
        for action in actions {
            switch action {
            case .attach(let request):
                interest = request.interest
                let response = AttachResponse(position: StreamPosition(epoch: 1, offset: 0))
                perform(index.attached(interest, response), &interest)
            case .proceed(let id):
                perform(index.handle(.proceed, of: id, isWritable: true), &interest)
            case .ask(let query):
                let answer = SubscribeEvent.presenceAnswered(.snapshot([]))
                perform(index.handle(answer, of: query.id, isWritable: true), &interest)
            default:
                break
            }
        }
    }

    package mutating func gather(_ delivery: DeliveryPush) { index.gather(delivery) }

    package mutating func flush() {
        index.endTurn { batch, subscribers, _ in
            deliveries += connections.send(batch, to: subscribers)
        }
    }

    private mutating func session() -> SessionKey {
        let key = SessionKey(id: SessionID(rawValue: sessions + 1), slot: UInt32(sessions))
        sessions += 1
        connections[key.slot] = counter
        return key
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
    var isWritable: Bool { true }
    func whenWritable(_ body: @escaping () -> Void) { body() }
    func pauseReading() {}
    func resumeReading() {}
    func disconnect(_ reason: Disconnect) {}
    func replaced() {}
}
