import AgoraRtmKit
import RTMTestSupport
import Testing

/// The forms of the versions 2.1, as public apps use them. They compile, and do what the present forms do.
/// The warnings of this file are theirs.
@Suite("Forms of earlier versions")
struct EarlierFormsTests {
    private let kit: AgoraRtmClientKit

    init() throws {
        let config = AgoraRtmClientConfig(appId: "demo", userId: "alice")
        let privateConfig = AgoraRtmPrivateConfig()
        privateConfig.serviceType = [.message]
        privateConfig.accessPointHosts = ["127.0.0.1:7710"]
        config.privateConfig = privateConfig
        kit = try AgoraRtmClientKit(config, delegate: nil)
    }

    @Test("metadata are made and changed by calls")
    func metadata() throws {
        guard let data: AgoraRtmMetadata = kit.getStorage()?.createMetadata() else {
            Issue.record("there is no metadata object")
            return
        }
        data.setMajorRevision(7)
        let item = AgoraRtmMetadataItem()
        item.key = "k"
        item.value = "1"
        data.setMetadataItem(item)
        data.setMetadataItem(AgoraRtmMetadataItem(key: "l", value: "2"))
        data.setMetadataItem(AgoraRtmMetadataItem(key: "k", value: "3"))
        #expect(data.getMajorRevision() == 7 && data.majorRevision == 7)
        #expect(data.getItems().map(\.value) == ["3", "2"], "an item replaces the one with its key")
        #expect(data.items?.count == 2)
        data.clear()
        #expect(data.getItems().isEmpty && data.getMajorRevision() == 7)
    }

    @Test("a destroyed metadata object can't be written (-12016)", .ends(withinMinutes: 1))
    func destroyed() async {
        let data = AgoraRtmMetadata()
        data.items = [AgoraRtmMetadataItem(key: "k", value: "v")]
        data.destroy()
        let (_, error) = await kit.getStorage()!.setUserMetadata(userId: "", data: data, options: nil)
        #expect(error?.errorCode == .storageInvalidMetadataInstance)
    }

    @Test("states may be a list of items; a key may not come twice (P-40)", .ends(withinMinutes: 1))
    func states() async {
        let item = AgoraRtmStateItem()
        item.key = "mood"
        item.value = "good"
        let presence = kit.getPresence()!
        let one = await presence.setState(channelName: "lobby", channelType: .message, items: [item])
        #expect(one.1?.errorCode == .notLogin && one.1?.operation == "setState")
        let two = await presence.setState(channelName: "lobby", channelType: .message, items: [item, item])
        #expect(two.1?.errorCode == .presenceStateDuplicateKey)
        let code = await withCheckedContinuation { continuation in
            presence.setState(channelName: "lobby", channelType: .message, items: [item]) { _, error in
                continuation.resume(returning: error?.errorCode)
            }
        }
        #expect(code == .notLogin)
    }

    @Test("options of a publish have a time, which changes nothing")
    func sendTs() {
        let options = AgoraRtmPublishOptions()
        options.sendTs = 7
        #expect(options.sendTs == 7)
    }
}
