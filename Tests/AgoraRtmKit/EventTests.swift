import RTMClient
import RTMModel
import Testing

@testable import AgoraRtmKit

@Suite("Events and options as objects")
struct EventTests {
    private func message(_ payload: MessagePayload) -> AgoraRtmMessageEvent {
        AgoraRtmMessageEvent(
            MessageEvent(
                channelType: .user, channelName: "bob", payload: payload, publisher: "alice",
                customType: "greeting", timestampMilliseconds: 1_790_000_000_000, offset: 3))
    }

    @Test("a message has exactly one of text and bytes (M-23)")
    func messages() {
        let text = message(.text("hi"))
        #expect(text.message.stringData == "hi" && text.message.rawData == nil)
        #expect(text.channelType == .user && text.channelName == "bob" && text.publisher == "alice")
        #expect(text.customType == "greeting" && text.channelTopic.isEmpty)
        #expect(text.timestamp == 1_790_000_000_000)
        let bytes = message(.data(Data([0, 1])))
        #expect(bytes.message.stringData == nil && bytes.message.rawData == Data([0, 1]))
    }

    @Test("a message prints as its text or size, as the samples print it")
    func description() {
        #expect("\(message(.text("hi")).message)" == "hi")
        #expect("\(message(.data(Data([0, 1]))).message)" == "2 bytes")
    }

    @Test("a message can be copied")
    func copy() throws {
        let original = message(.text("hi")).message
        let copy = try #require(original.copy() as? AgoraRtmMessage)
        #expect(copy !== original && copy.stringData == "hi")
    }

    @Test("a link event carries all fields (S-23)")
    func linkState() {
        let event = AgoraRtmLinkStateEvent(
            LinkStateEvent(
                currentState: .connected, previousState: .connecting, operation: .reconnected,
                reasonCode: .reconnectSuccess, reason: "back", affectedChannels: ["a", "b"],
                unrestoredChannels: ["b"], isResumed: true, timestampMilliseconds: 5))
        #expect(event.currentState == .connected && event.previousState == .connecting)
        #expect(event.serviceType == .message)
        #expect(event.operation == .reconnected && event.reasonCode == .reconnectSuccess)
        #expect(event.reason == "back" && event.isResumed && event.timestamp == 5)
        #expect(event.affectedChannels == ["a", "b"] && event.unrestoredChannels == ["b"])
    }

    @Test("the event of a token says whose it is, and how long it lives (S-50)")
    func token() {
        let login = AgoraRtmTokenEvent(TokenWillExpireEvent(remaining: .milliseconds(29_950)))
        #expect(login.eventType == .willExpire && login.affectedResources.messageChannels == [])
        #expect(login.reason.contains("the login expires in 30 s") && login.timestamp > 0)
        let room = AgoraRtmTokenEvent(TokenWillExpireEvent(remaining: .seconds(5), channelName: "room"))
        #expect(room.reason.contains("stream channel 'room' expires in 5 s"))
    }

    @Test("missing presence is told as errorOutOfService (P-7)")
    func presenceUnavailable() {
        let event = AgoraRtmPresenceEvent(
            PresenceEvent(
                channelType: .message, channelName: "lobby", change: .outage(.unavailable),
                timestampMilliseconds: 1_790_000_000_000))
        #expect(event.type == .errorOutOfService)
        #expect(event.channelType == .message && event.channelName == "lobby")
        #expect(event.publisher == nil && event.snapshot.isEmpty)
        #expect(event.timestamp == 1_790_000_000_000)
    }

    @Test("metadata can be made plainly and by unwrapping (api-surface 6.1)")
    func metadata() {
        let plain = AgoraRtmMetadata()
        plain.items = [AgoraRtmMetadataItem(key: "k", value: "v", revision: 7), AgoraRtmMetadataItem()]
        #expect(plain.majorRevision == -1)
        #expect(plain.items?.map(\.revision) == [7, -1])
        #expect(AgoraRtmMetadataItem(key: "k", value: "v").revision == -1)
        let unwrapped = AgoraRtmMetadata()!
        unwrapped.majorRevision = 2
        #expect(unwrapped.items == nil)
        guard let guarded = AgoraRtmMetadata() else {
            Issue.record("there is no metadata object")
            return
        }
        #expect(guarded.items == nil)
    }

    @Test("options begin with the documented defaults")
    func options() {
        #expect(AgoraRtmSubscribeOptions().features == [.message, .presence])
        let publishing = AgoraRtmPublishOptions()
        #expect(publishing.channelType == .message)
        #expect(publishing.customType.isEmpty && !publishing.storeInHistory)
    }

    @Test("features keep their bits below; unknown bits are left out")
    func features() {
        let all: AgoraRtmSubscribeChannelFeature = [.presence, .metadata, .message, .lock, .beQuiet]
        #expect(all.subscriptionFeatures == [.all, .quiet])
        #expect(!SubscriptionFeatures.all.contains(.quiet), "nobody is quiet without having said so")
        #expect(AgoraRtmSubscribeOptions().features.subscriptionFeatures == .default)
        #expect(
            AgoraRtmSubscribeChannelFeature(rawValue: 1 << 40 | 1 << 9 | 4).subscriptionFeatures == .message)
    }

    @Test("messages go to channels and users, not to other types (-10019)")
    func destinations() throws {
        #expect(try AgoraRtmChannelType.message.destination(named: "lobby") == .channel("lobby"))
        #expect(try AgoraRtmChannelType.user.destination(named: "bob") == .user("bob"))
        for type in [AgoraRtmChannelType.none, .stream] {
            #expect(throws: RTMError.self) { try type.destination(named: "x") }
        }
    }
}
