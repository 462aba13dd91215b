import Foundation
import RTMCredentials
import RTMModel
import Synchronization
import Testing

@testable import RTMGatewayServer

@Suite("W-42: requests that wait for events or stream them")
struct EventPlacesTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func record(_ id: String, app: String = "dev", expires: Date? = nil) -> APIKeyRecord {
        APIKeyRecord(id: id, hash: "", app: app, scopes: [.read], expires: expires)
    }

    @Test("a key has so many places, and one is free again when its request is over")
    func limit() throws {
        let places = EventPlaces(countMax: 2)
        var held = [try places.take(record("a")), try places.take(record("a"))]
        let error = #expect(throws: RTMError.self) { try places.take(record("a")) }
        #expect(error?.limit == .init(name: "gateway.events.perKeyMax", value: 2) && error?.retryAfter != nil)
        // Another key has its own.
        let other = try places.take(record("b"))
        held.removeLast()
        held.append(try places.take(record("a")))
        places.take([record("a"), record("b")], countMax: 3)
        held.append(try places.take(record("a")))
        #expect(held.allSatisfy { !$0.isOver(now: now) } && !other.isOver(now: now))
    }

    @Test("a key that is revoked or changed ends its places at once, and no other")
    func revoked() throws {
        let places = EventPlaces(countMax: 9)
        let (gone, changed, kept) = (
            try places.take(record("gone")), try places.take(record("changed")),
            try places.take(record("kept"))
        )
        let ended = Mutex<[String]>([])
        for (name, place) in [("gone", gone), ("changed", changed), ("kept", kept)] {
            place.end.then { ended.withLock { $0.append(name) } }
        }
        places.take([record("changed", app: "other"), record("kept")], countMax: 9)
        #expect(ended.withLock { $0.sorted() } == ["changed", "gone"])
        #expect(gone.isOver(now: now) && changed.isOver(now: now) && !kept.isOver(now: now))
        // Who asks afterwards learns it, too.
        gone.end.then { ended.withLock { $0.append("late") } }
        #expect(ended.withLock { $0.last } == "late")
    }

    @Test("a key that expires ends its places then, and no wait lasts longer")
    func expires() throws {
        let place = try EventPlaces(countMax: 1).take(record("a", expires: now + 5))
        #expect(place.wait(.seconds(10), now: now) == .seconds(5))
        #expect(place.wait(.seconds(3), now: now) == .seconds(3))
        #expect(place.wait(.seconds(10), now: now + 6) == .zero)
        #expect(!place.isOver(now: now + 4) && place.isOver(now: now + 5))
    }
}
