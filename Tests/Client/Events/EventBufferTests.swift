import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

struct EventBufferTests {
    private func event(_ number: Int) -> RTMEvent {
        .tokenWillExpire(TokenWillExpireEvent(remaining: .milliseconds(number)))
    }

    @Test func `Each consumer gets every event, in order`() async {
        let hub = EventHub()
        var first = hub.makeConsumer(.dropOldest()).makeAsyncIterator()
        var second = hub.makeConsumer(.dropOldest()).makeAsyncIterator()
        for number in 1...3 { hub.emit(event(number)) }
        for number in 1...3 {
            #expect(await first.next() == event(number))
            #expect(await second.next() == event(number))
        }
    }

    @Test func `A slow consumer finds its loss where it happened, and a quick one loses nothing`() async {
        let hub = EventHub()
        var slow = hub.makeConsumer(.dropOldest(capacity: 2)).makeAsyncIterator()
        var quick = hub.makeConsumer(.dropOldest(capacity: 100)).makeAsyncIterator()
        for number in 1...5 { hub.emit(event(number)) }
        #expect(await slow.next() == .overflow(dropped: 3))
        #expect(await slow.next() == event(4))
        #expect(await slow.next() == event(5))
        for number in 1...5 { #expect(await quick.next() == event(number)) }
    }

    @Test func `What is buffered can be read after the end`() async {
        let hub = EventHub()
        var events = hub.makeConsumer(.dropOldest()).makeAsyncIterator()
        hub.emit(event(1))
        hub.finish()
        #expect(await events.next() == event(1))
        #expect(await events.next() == nil)
        var late = hub.makeConsumer(.dropOldest()).makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    @Test func `The bytes of waiting messages are bounded too`() {
        var contents = EventBuffer.Contents(capacity: 1_000_000)
        let text = String(repeating: "x", count: 1024 * 1024)
        let message = RTMEvent.message(
            MessageEvent(
                channelType: .message, channelName: "c", payload: .text(text), publisher: "p",
                timestampMilliseconds: 1, offset: 1))
        for _ in 0..<66 { _ = contents.append(message) }
        let first = contents.takeIfReady()
        #expect(first?.event == .overflow(dropped: 2))
    }

    @Test(.ends(withinMinutes: 1))
    func `A waiting consumer is woken by an event, by a cancellation and by the end`() async {
        let hub = EventHub()
        let sequence = hub.makeConsumer(.dropOldest())
        async let waiting = sequence.first { _ in true }
        hub.emit(event(1))
        #expect(await waiting == event(1))
        let cancelled = Task { await sequence.first { _ in true } }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        let ended = Task { await sequence.first { _ in true } }
        hub.finish()
        #expect(await ended.value == nil)
    }
}
