import RTMModel
import RTMTestSupport
import Testing

@testable import RTMClient

@Suite("The messages of one channel", .ends(withinMinutes: 1))
struct ChannelMessagesTests {
    private func message(_ channel: String, _ text: String, topic: String = "") -> RTMEvent {
        var event = MessageEvent(
            channelType: topic.isEmpty ? .message : .stream, channelName: channel, payload: .text(text),
            publisher: "bob", customType: "", timestampMilliseconds: 1, offset: 1)
        event.topic = topic
        return .message(event)
    }

    private func gap(_ type: ChannelType, _ name: String) -> GapEvent {
        GapEvent(
            channelType: type, channelName: name, lastSeen: nil,
            continuesAfter: StreamPosition(epoch: 1, offset: 9))
    }

    @Test("M-38: a loud channel takes nothing from a quiet one, and gaps are in their places")
    func quietChannel() async throws {
        let edge = try await FakeEdge.start()
        let client = try RTMClient.forTest(edge) { $0.eventBufferCapacity = 2 }
        var quiet = client.messages(in: "quiet").makeAsyncIterator()
        var loud = client.messages(in: "loud").makeAsyncIterator()
        let hub = client.hub
        hub.emit(message("quiet", "1"))
        for number in 1...5 { hub.emit(message("loud", "\(number)")) }
        hub.emit(.gap(gap(.message, "quiet")))
        #expect(await quiet.next()?.message?.payload == .text("1"))
        #expect(await quiet.next() == .missing(.gap(gap(.message, "quiet"))))
        #expect(await loud.next() == .missing(.overflow(dropped: 3)))
        #expect(await loud.next()?.message?.payload == .text("4"))
        await client.close()
        try await edge.stop()
    }

    @Test("the messages of a topic are those of its log, and not the channel's")
    func topics() throws {
        let source = MessageSource(TopicName("chat", in: "room"))
        #expect(source.received(message("room", "1", topic: "chat"))?.message?.payload == .text("1"))
        #expect(source.received(message("room", "1", topic: "other")) == nil)
        let log = TopicName("chat", in: "room").text
        #expect(source.received(.gap(gap(.topic, log))) == .missing(.gap(gap(.topic, log))))
        #expect(source.received(.gap(gap(.stream, "room"))) == nil)
        #expect(MessageSource(.message("room")).received(message("room", "1", topic: "chat")) == nil)
    }
}
