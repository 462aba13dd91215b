import RTMModel
import RTMProtocol
import Testing

@Suite("Channels")
struct ChannelTests {
    @Test("L-6: the same name in another app or with another type is another channel")
    func channelIdentity() {
        let lobby = ChannelKey(appID: "a", type: .message, name: "lobby")
        #expect(lobby == ChannelKey(appID: "a", type: .message, name: "lobby"))
        #expect(lobby != ChannelKey(appID: "b", type: .message, name: "lobby"))
        #expect(lobby != ChannelKey(appID: "a", type: .stream, name: "lobby"))
        #expect(lobby != ChannelKey(appID: "a", type: .message, name: "Lobby"))
    }

    @Test("the channel types have the schema's numbers")
    func channelTypes() {
        let model = ChannelType.allCases.map(\.rawValue)
        #expect(model == Rtm_Client_ChannelType.allCases.map(\.rawValue))
        #expect(ChannelType.user.rawValue == Rtm_Client_ChannelType.user.rawValue)
    }

    @Test(
        "M-1: the features of a message channel have the public bits, and the default is message + presence")
    func features() {
        let bits: [(SubscriptionFeatures, UInt32)] = [
            (.presence, 1), (.metadata, 2), (.message, 4), (.lock, 8), (.quiet, 16), (.default, 5),
            (.all, 15),
        ]
        for (features, rawValue) in bits {
            #expect(features.rawValue == rawValue)
        }
    }

    @Test("the limits are those of the public API")
    func limits() {
        #expect(Limits.userIDBytesMax == 64, "L-1")
        #expect(Limits.channelNameBytesMax == 64, "L-4")
        #expect(Limits.customTypeBytesMax == 32, "L-10")
        #expect(Limits.messageBytesMax == 32_768, "L-20")
        #expect(Limits.subscribedChannelsMax == 50, "L-24")
        #expect(Limits.metadataKeyBytesMax == 32, "L-13")
        #expect(Limits.metadataValueBytesMax == 16_384, "L-36")
        #expect(Limits.metadataBytesMax == 16_384, "L-37")
        #expect(Limits.userMetadataSubscriptionsMax == 100, "L-38")
        #expect(Limits.lockNameBytesMax == 64, "L-11")
        #expect(Limits.locksMax == 32, "L-39")
        #expect(Limits.lockTTL == 10...300, "L-40")
        #expect(Limits.historyPage == 1...100, "L-43")
        #expect(Limits.presenceTimeout == 5...300, "L-45")
        #expect(Limits.heartbeatInterval == 5...1800, "L-46")
        #expect(Limits.heartbeatGrace == 10, "S-41")
    }
}
