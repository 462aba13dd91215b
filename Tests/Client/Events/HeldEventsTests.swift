import RTMModel
import Testing

@testable import RTMClient

struct HeldEventsTests {
    private func event(_ number: Int) -> RTMEvent {
        .tokenWillExpire(TokenWillExpireEvent(remaining: .milliseconds(number)))
    }

    @Test func `Events of other channels pass`() {
        var held = HeldEvents()
        held.hold(.message("lobby"))
        #expect(held.append(event(1), of: .message("attic")) == [event(1)])
        #expect(held.append(event(2), of: .message("lobby")).isEmpty)
    }

    @Test func `K-12: held events are released in order, channel by channel, and later ones pass`() {
        var held = HeldEvents()
        held.hold(.message("lobby"))
        held.hold(.message("attic"))
        #expect(held.append(event(1), of: .message("lobby")).isEmpty)
        #expect(held.append(event(2), of: .message("attic")).isEmpty)
        #expect(held.append(event(3), of: .message("lobby")).isEmpty)
        #expect(held.releaseAll() == [event(2), event(1), event(3)])
        #expect(held.append(event(4), of: .message("lobby")) == [event(4)])
        #expect(held.releaseAll().isEmpty)
    }

    @Test func `A channel with too many events is released at once`() {
        var held = HeldEvents()
        held.hold(.message("lobby"))
        for number in 1..<HeldEvents.eventsMax {
            #expect(held.append(event(number), of: .message("lobby")).isEmpty)
        }
        #expect(held.append(event(0), of: .message("lobby")).count == HeldEvents.eventsMax)
        #expect(held.append(event(1), of: .message("lobby")) == [event(1)])
    }
}
