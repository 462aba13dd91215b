import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMEdgeServer

@Suite("What publishers have under way")
struct PublishWindowTests {
    private func key(_ number: UInt32) -> SessionKey {
        SessionKey(id: SessionID(rawValue: UInt64(number) + 1), slot: number)
    }

    /// A loop's window with the shares of its sessions.
    private struct Scene {
        var window = PublishWindow()
        var shares: [SessionKey: PublishWindow.Share] = [:]

        /// Whether the session has to stop.
        mutating func send(_ count: Int, by key: SessionKey) -> Bool? {
            window.sent(count, by: key, &shares[key, default: .init()])
        }

        /// The sessions that may go on.
        mutating func answer(_ count: Int, of key: SessionKey) -> [SessionKey]? {
            window.answered(count, of: key, &shares[key, default: .init()]).filter {
                window.release($0, &shares[$0, default: .init()])
            }
        }
    }

    @Test("a session with too much under way stops, others don't, and it goes on when half is answered")
    func one() {
        var scene = Scene()
        for _ in 0..<16 { #expect(scene.send(64 << 10, by: key(1)) == false) }
        #expect(scene.send(1, by: key(1)) == true)
        #expect(scene.send(64 << 10, by: key(2)) == false)
        // It is told once.
        #expect(scene.send(64 << 10, by: key(1)) == false)
        for _ in 0..<9 { #expect(scene.answer(64 << 10, of: key(1)) == []) }
        #expect(scene.answer(1, of: key(1)) == [key(1)])
        #expect(scene.answer(64 << 10, of: key(2)) == [])
    }

    @Test("when the link fills, those with much under way stop first, and all go on when half is answered")
    func many() {
        var scene = Scene()
        for number in 0..<16 as Range<UInt32> { #expect(scene.send(512 << 10, by: key(number)) == false) }
        // Eight megabytes are under way. That is no reason to stop a session with a little of it.
        #expect(scene.send(600, by: key(17)) == false)
        for number in 0..<16 as Range<UInt32> { #expect(scene.send(500 << 10, by: key(number)) == true) }
        #expect(scene.send(600, by: key(17)) == false)
        _ = scene.send(900 << 10, by: key(18))
        // Twice as much is under way: whoever publishes now stops.
        #expect(scene.send(1, by: key(99)) == true)
        var released: Set<SessionKey> = []
        for (key, share) in scene.shares.sorted(by: { $0.key.slot < $1.key.slot }) {
            released.formUnion(scene.answer(share.bytes, of: key) ?? [])
        }
        #expect(scene.window.bytes == 0)
        #expect(released.isSuperset(of: (0..<16).map(key)) && released.contains(key(99)))
        #expect(scene.shares.values.allSatisfy { !$0.isHeld && $0.bytes == 0 })
    }

    @Test("R-15: the socket of a publisher whom messaging doesn't answer is left unread until it answers")
    func socket() {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        let (greedy, modest) = (fixture.client("greedy"), fixture.client("modest"))
        fixture.messaging.ignored = [MessagingMethod.publish.number]
        for number in 0..<40 as Range<UInt64> {
            greedy.send(
                10 + number,
                .publish(
                    .with {
                        ($0.channelType, $0.channel) = (.message, "room \(number)")
                        $0.payload = Data(count: 32_000)
                    }))
        }
        let before = (greedy.reads, modest.reads)
        greedy.offerRead()
        modest.offerRead()
        #expect(greedy.reads == before.0 && modest.reads == before.1 + 1)
        // Its requests time out. A session that is held is not taken for silent meanwhile.
        fixture.pass(.seconds(6))
        #expect(greedy.isOpen && greedy.reads == before.0 + 1)
        greedy.offerRead()
        #expect(greedy.reads == before.0 + 2)
    }
}
