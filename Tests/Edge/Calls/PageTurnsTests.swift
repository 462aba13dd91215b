import Foundation
import NIOCore
import RTMMessagingServer
import RTMModel
import RTMProtocol
import RTMServiceLink
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

/// Whatever a session asks for that may be long: its app has memory for it, or it waits, and is refused in
/// the end. Each app has memory of its own, whichever door its users ask at.
@Suite("R-21: memory for pages is taken before they are asked for")
struct PageTurnsTests {
    /// All ways in which a session asks another service for a page.
    enum Door: CaseIterable {
        case history, metadata, locks, whoNow, whereNow, state
        case storedSnapshot, userMetadata, missed

        fileprivate var call: Rtm_Client_ClientFrame.OneOf_Body? {
            switch self {
            case .history: .getHistory(.with { ($0.channelType, $0.channel) = (.message, "lobby") })
            case .metadata: .getMetadata(.with { ($0.channelType, $0.target) = (.message, "lobby") })
            case .locks: .getLocks(.with { ($0.channelType, $0.channel) = (.message, "lobby") })
            case .whoNow: .whoNow(.with { ($0.channelType, $0.channel) = (.message, "lobby") })
            case .whereNow: .whereNow(.with { $0.userID = "carl" })
            case .state:
                .getState(.with { ($0.channelType, $0.channel, $0.userID) = (.message, "lobby", "carl") })
            case .storedSnapshot, .missed: nil
            case .userMetadata: .subscribeUserMetadata(.with { $0.userID = "carl" })
            }
        }
    }

    /// A loop, and how often a door was passed.
    private final class Scene {
        let fixture = EdgeFixture(outboundBytes: PageTurns.bytesMin)
        var reads = 0
        private var held: [SharedMemory.Share] = []

        init() {
            fixture.messaging.willReceive = { [unowned self] method in
                if method == MessagingMethod.read.number { reads += 1 }
            }
        }

        /// How many pages were asked for at the door.
        func asked(at door: Door) -> Int {
            switch door {
            case .history, .metadata, .locks: fixture.storage.callCount
            case .whoNow, .whereNow, .state:
                fixture.presence.received.count { $0.method == PresenceMethod.call.number }
            case .storedSnapshot, .userMetadata: fixture.storage.snapshots.count
            case .missed: reads
            }
        }

        /// Users of the app take all that it may have.
        func fill(_ app: String = "app") {
            for size in [1 << 20, 64 * 1024, 1_024, 1] {
                while let share = fixture.edge.pages.take(size, of: app, by: "user \(held.count)") {
                    held.append(share)
                }
            }
        }

        func letGo() {
            held = []
            fixture.pass(.milliseconds(20))
        }

        /// The client asks at the door.
        func ask(at door: Door, _ client: EdgeClient, after position: Rtm_Client_StreamPosition) {
            switch door {
            case .storedSnapshot: client.subscribe(9, "lobby", [.message, .metadata])
            case .missed:
                client.send(
                    9,
                    .subscribe(
                        .with {
                            ($0.channel, $0.features) = ("lobby", SubscriptionFeatures.message.rawValue)
                            $0.after = position
                        }))
            default: return client.send(9, door.call)
            }
            fixture.presence.answerJoin()
            fixture.pass()
        }

        /// Messages in the channel, and the position before them.
        func publish(by client: EdgeClient) -> Rtm_Client_StreamPosition {
            client.subscribe(3, "lobby", .message)
            fixture.presence.answerJoin()
            fixture.pass()
            let position = client.take().first?.subscribed.position
            for id in UInt64(4)..<7 { client.publish(id, to: "lobby", bytes: 100) }
            client.send(8, .unsubscribe(.with { $0.channel = "lobby" }))
            _ = client.take()
            return position ?? .init()
        }
    }

    @Test(
        "an app that has all its memory waits at every door, and no other app does", arguments: Door.allCases)
    func waits(at door: Door) {
        let scene = Scene()
        let (anna, ben) = (scene.fixture.client("anna"), scene.fixture.client("ben", app: "other"))
        let positions = [anna, ben].map { scene.publish(by: $0) }
        scene.fill()
        scene.ask(at: door, anna, after: positions[0])
        #expect(scene.asked(at: door) == 0)
        scene.ask(at: door, ben, after: positions[1])
        #expect(scene.asked(at: door) == 1, "the memory of another app is another one")
        #expect(anna.take().isEmpty)
        scene.letGo()
        #expect(scene.asked(at: door) == 2)
        scene.fixture.end()
    }

    @Test(
        "who has waited for too long is refused at every door, and learns when to come back",
        arguments: Door.allCases)
    func refused(at door: Door) throws {
        let scene = Scene()
        let anna = scene.fixture.client("anna")
        let position = scene.publish(by: anna)
        scene.fill()
        scene.ask(at: door, anna, after: position)
        scene.fixture.pass(PageTurns.waitMax + .milliseconds(20))
        let answer = try #require(anna.take().first)
        #expect(answer.requestID == 9 && scene.asked(at: door) == 0)
        if door == .storedSnapshot {
            // The subscribe succeeds, and says what can't be had (M-4).
            #expect(answer.subscribed.featuresUnavailable == SubscriptionFeatures.metadata.rawValue)
        } else {
            #expect(answer.error.code == .errorOperationRateExceedLimitation)
            #expect(answer.error.limit.name == "edge.outbound.totalBytesMax")
            #expect(
                answer.error.limit.value == UInt64(PageTurns.bytesMin) && answer.error.retryAfterMs == 1_000)
        }
        scene.letGo()
        #expect(scene.fixture.edge.pages.bytes == 0)
        scene.fixture.end()
    }

    @Test("a big snapshot that finds no memory can't be had, and is read later")
    func roster() {
        let scene = Scene()
        let presence = scene.fixture.presence
        let (anna, ben) = (scene.fixture.client("anna"), scene.fixture.client("ben", app: "other"))
        scene.fill()
        for client in [anna, ben] {
            client.subscribe(3, "lobby")
            presence.answerJoinTooBig()
            scene.fixture.pass()
        }
        #expect(presence.rosters.map(\.channel.appID) == ["other"])
        let answer = anna.take().first
        #expect(answer?.subscribed.featuresUnavailable == SubscriptionFeatures.presence.rawValue)
        scene.letGo()
        scene.fixture.end()
    }

    @Test("memory is held until the client has read the page, or is gone", arguments: [true, false])
    func held(reads: Bool) {
        let scene = Scene()
        let (fixture, pages) = (scene.fixture, scene.fixture.edge.pages)
        let anna = fixture.client("anna")
        anna.isReading = false
        anna.send(9, Door.history.call)
        #expect(pages.bytes == 300 * 1024)
        let page = Rtm_Client_ServerFrame.with {
            $0.historyPage.messages = [
                .with { $0.payload = Data(repeating: 1, count: 100_000) }
            ]
        }
        let body: [UInt8] = (try? page.serializedBytes()) ?? []
        body.withUnsafeBytes { body in
            _ = fixture.storage.answer(
                StorageMethod.call.number, StorageCallResponse(response: WireText(body)))
        }
        fixture.pass()
        #expect((100_000..<101_000).contains(pages.bytes))
        if reads { anna.isReading = true } else { anna.vanish() }
        fixture.pass()
        #expect(pages.bytes == 0)
        fixture.end()
    }

    @Test("who waits is let go with its session")
    func gone() {
        let scene = Scene()
        let anna = scene.fixture.client("anna")
        scene.fill()
        scene.ask(at: .history, anna, after: .init())
        anna.vanish()
        scene.letGo()
        #expect(scene.asked(at: .history) == 0 && scene.fixture.edge.pages.bytes == 0)
        scene.fixture.end()
    }

    @Test("the users of an app wait in turn")
    func turns() {
        let scene = Scene()
        let (anna, ben) = (scene.fixture.client("anna"), scene.fixture.client("ben"))
        scene.fill()
        for id in UInt64(10)..<14 { anna.send(id, Door.history.call) }
        ben.send(20, Door.history.call)
        scene.letGo()
        let users = scene.fixture.storage.bodies(StorageMethod.call.number) {
            try CallRequest($0, in: $1).caller.userID
        }
        #expect(users == ["anna", "ben", "anna", "anna", "anna"])
        scene.fixture.end()
    }
}
