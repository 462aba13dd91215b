import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

/// Presence doesn't list a session while a newer login of its user is in the channel. When the edge of that
/// login has died, only the older one's edge can tell presence of it (S-12).
@Suite("Sessions that presence doesn't list")
struct UnlistedTests {
    @Test("S-12: presence is told of a session that it didn't list with each renewal, until it lists it")
    func reportedAgain() {
        let fixture = EdgeFixture()
        defer { fixture.end() }
        let presence = fixture.presence
        let (anna, ben) = (fixture.client("anna"), fixture.client("ben"))
        for client in [anna, ben] {
            client.subscribe(3, "lobby")
            presence.answerJoin(["anna"], isOlder: client === anna)
        }
        anna.subscribe(4, "hall")
        presence.answerJoin(["anna"], in: "hall")
        fixture.pass()
        #expect(anna.take().count == 4, "the snapshot is as good as any")
        presence.forget()
        for isStillOlder in [true, false] {
            fixture.pass(.seconds(5))
            fixture.renewLease(isKnown: true)
            let again = presence.syncs.last
            #expect(again?.memberships.map(\.caller.userID) == ["anna"])
            #expect(again?.memberships.map(\.channel.name) == ["lobby"])
            #expect(again?.isFirst == false && again?.isLast == false)
            presence.answerSync(older: isStillOlder ? [0] : [])
            fixture.pass()
        }
        fixture.pass(.seconds(5))
        fixture.renewLease(isKnown: true)
        #expect(presence.syncs.count == 2)
    }
}
