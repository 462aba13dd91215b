import AgoraRtmKit
import RTMTestSupport
import Testing

/// The samples that need no server do what they say. The others run on a client that is destroyed already:
/// there they complete at once, with the error that they print.
@Suite("The reference's samples")
struct SampleTests {
    @Test("a client is created from the sample configuration without a network (S-0c)")
    func creation() throws {
        sample003Configuration()
        sample003Create()
        try sample003DelegateAtCreation(config: withAddress(sample003AllLabels()))
    }

    @Test("the twelve labels of the configuration carry the documented defaults")
    func labels() {
        let config = sample003AllLabels()
        let plain = AgoraRtmClientConfig(appId: "yourAppId", userId: "yourUserId")
        #expect(config.useStringUserId == plain.useStringUserId)
        #expect(config.presenceTimeout == plain.presenceTimeout)
        #expect(config.heartbeatInterval == plain.heartbeatInterval)
        #expect(config.areaCode == plain.areaCode)
        #expect(config.protocolType == plain.protocolType)
    }

    @Test("delegates are added, removed, and the client is destroyed")
    func delegates() throws {
        let client = try makeClient()
        sample003Delegates(rtmClient: client)
        sample004Delegate(rtmClient: client)
        sample002Delegate(rtm: client)
        sample003Destroy(rtmClient: client)
        #expect(client.destroy() == .instanceAlreadyReleased)
    }

    @Test("every call's sample comes to its end", .ends(withinMinutes: 1))
    func calls() async throws {
        let client = try makeClient()
        client.destroy()
        await sample003Login(rtmClient: client)
        await sample003Logout(rtmClient: client)
        await sample004PublishText(rtmClient: client)
        await sample004PublishBytes(rtmClient: client)
        await sample004PublishToUser(rtmClient: client)
        await sample002WhoNowAsync(rtm: client)
        await sample002NewerNamesAsync(rtm: client)
        await sample002StateAsync(rtm: client)
        sample002WhoNow(rtm: client)
        sample002WhereNow(rtm: client)
        sample002SetState(rtm: client)
        sample002GetState(rtm: client)
        sample002RemoveState(rtm: client)
        await sample004GetMessages(rtmClient: client)
        await sample000SetChannelMetadata(rtmClient: client)
        await sample000GetChannelMetadata(rtmClient: client)
        await sample000RemoveChannelMetadata(rtmClient: client)
        await sample000UpdateChannelMetadata(rtmClient: client)
        await sample000SetUserMetadata(rtmClient: client)
        await sample000GetUserMetadata(rtmClient: client)
        await sample000RemoveUserMetadata(rtmClient: client)
        await sample000UpdateUserMetadata(rtmClient: client)
        await sample000SubscribeUserMetadata(rtmClient: client)
        await sample000UnsubscribeUserMetadata(rtmClient: client)
        sample003LoginCallback(rtmClient: client, token: "token")
        sample003LogoutCallback(rtmClient: client)
        sample004PublishTextCallback(rtmClient: client)
        sample004PublishBytesCallback(rtmClient: client)
        sample004PublishToUserCallback(rtmClient: client)
        sample004GetMessagesCallback(rtmClient: client)
        storageCallbacks(client)
        // On a destroyed client nothing is waited for, so that the blocks run in the order of the calls.
        await withCheckedContinuation { continuation in
            client.logout { _, _ in continuation.resume() }
        }
    }

    private func storageCallbacks(_ client: AgoraRtmClientKit) {
        sample000SetChannelMetadataCallback(rtmClient: client)
        sample000GetChannelMetadataCallback(rtmClient: client)
        sample000RemoveChannelMetadataCallback(rtmClient: client)
        sample000UpdateChannelMetadataCallback(rtmClient: client)
        sample000SetUserMetadataCallback(rtmClient: client)
        sample000GetUserMetadataCallback(rtmClient: client)
        sample000RemoveUserMetadataCallback(rtmClient: client)
        sample000UpdateUserMetadataCallback(rtmClient: client)
        sample000SubscribeUserMetadataCallback(rtmClient: client)
        sample000UnsubscribeUserMetadataCallback(rtmClient: client)
        sample001SetChannelMetadata(rtm: client)
        sample001GetChannelMetadata(rtm: client)
        sample001UpdateChannelMetadata(rtm: client)
        sample001RemoveChannelMetadata(rtm: client)
        sample001CompareAndSet(rtm: client)
        sample001UpdateUnderLock(rtm: client)
        sample001RemoveWholeSet(rtm: client)
    }

    private func makeClient() throws -> AgoraRtmClientKit {
        try AgoraRtmClientKit(
            withAddress(AgoraRtmClientConfig(appId: "yourAppId", userId: "yourUserId")), delegate: nil)
    }
}

/// The samples leave out where the servers are.
private func withAddress(_ config: AgoraRtmClientConfig) -> AgoraRtmClientConfig {
    let privateConfig = AgoraRtmPrivateConfig()
    privateConfig.serviceType = [.message]
    privateConfig.accessPointHosts = ["127.0.0.1:7710"]
    config.privateConfig = privateConfig
    return config
}
