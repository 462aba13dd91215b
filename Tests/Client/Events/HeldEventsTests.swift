import RTMModel
import Testing

@testable import RTMClient

struct HeldEventsTests {
    private func event(_ number: Int) -> RTMEvent {
        .tokenWillExpire(TokenWillExpireEvent(remaining: .milliseconds(number)))
    }

    @Test func `Events of other channels pass`() {
        var held = HeldEvents()
        held.hold("lobby")
        #expect(held.append(event(1), of: "attic") == [event(1)])
        #expect(held.append(event(2), of: "lobby").isEmpty)
    }

    @Test func `K-12: held events are released in order, channel by channel, and later ones pass`() {
        var held = HeldEvents()
        held.hold("lobby")
        held.hold("attic")
        #expect(held.append(event(1), of: "lobby").isEmpty)
        #expect(held.append(event(2), of: "attic").isEmpty)
        #expect(held.append(event(3), of: "lobby").isEmpty)
        #expect(held.releaseAll() == [event(2), event(1), event(3)])
        #expect(held.append(event(4), of: "lobby") == [event(4)])
        #expect(held.releaseAll().isEmpty)
    }

    @Test func `A channel with too many events is released at once`() {
        var held = HeldEvents()
        held.hold("lobby")
        for number in 1..<HeldEvents.eventsMax {
            #expect(held.append(event(number), of: "lobby").isEmpty)
        }
        #expect(held.append(event(0), of: "lobby").count == HeldEvents.eventsMax)
        #expect(held.append(event(1), of: "lobby") == [event(1)])
    }
}
