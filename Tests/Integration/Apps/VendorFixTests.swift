import AgoraRtmKit
import Foundation
import RTMAccessToken
import RTMModel
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// Defects that the release note of the vendor's Web 2.2.4 (2026-04-23) admits, as an app over this API would
/// meet them.
@Suite(.serialized, .ends(withinMinutes: 3)) struct VendorFixTests {
    /// One user behind a line that can be cut.
    private func behindLine(_ body: (AppClient, FaultProxy, RunningSystem) async throws -> Void) async throws
    {
        try await RunningSystem.with(.standalone) { system in
            let line = try await FaultProxy.start(to: system.address("edge"))
            let client = try await AppClient.login("anna", at: line.address)
            try await body(client, line, system)
            client.destroy()
            try await line.stop()
        }
    }

    private func cut(_ client: AppClient, _ line: FaultProxy) async throws {
        let lost = Shared(false)
        let watch = LinkWatch { state in if state != .connected { lost.withLock { $0 = true } } }
        try client.kit.addDelegate(watch)
        line.refuse(true)
        line.spoil(.reset)
        try await eventually("the link is lost") { lost.present }
        try client.kit.removeDelegate(watch)
    }

    private final class LinkWatch: NSObject, AgoraRtmClientDelegate, Sendable {
        private let changed: @Sendable (AgoraRtmLinkState) -> Void

        init(_ changed: @escaping @Sendable (AgoraRtmLinkState) -> Void) { self.changed = changed }

        func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveLinkStateEvent event: AgoraRtmLinkStateEvent) {
            changed(event.currentState)
        }
    }

    @Test("Web 2.2.4: login may be called at once, and again, while there is no network")
    func loginWithoutNetwork() async throws {
        try await behindLine { anna, line, _ in
            try await cut(anna, line)
            let kit = try anna.kit
            let first = Shared<AgoraRtmErrorCode?>(nil)
            kit.login(nil) { _, error in first.withLock { $0 = error?.errorCode } }
            let second = Shared<AgoraRtmErrorCode?>(nil)
            kit.login(nil) { _, error in second.withLock { $0 = error?.errorCode ?? .ok } }
            try await eventually("the earlier login is replaced") { first.present == .loginCanceled }
            line.refuse(false)
            try await eventually("the login succeeds") { second.present == .ok }
            try succeeded(await kit.publish(channelName: "lobby", message: "back", option: nil))
        }
    }

    @Test("Web 2.2.4, S-16: unsubscribeUserMetadata works without a network, and nothing is restored")
    func unsubscribeWithoutNetwork() async throws {
        try await behindLine { anna, line, system in
            let kit = try anna.kit
            try succeeded(await kit.subscribeUserMetadata(userId: "ben"))
            try await eventually("the snapshot") { anna.storage.present.count == 1 }
            try await cut(anna, line)
            try succeeded(await kit.unsubscribeUserMetadata(userId: "ben"))
            line.refuse(false)
            try succeeded(await kit.login(nil))
            let ben = try await AppClient.login("ben", at: system.address("edge"))
            let data = AgoraRtmMetadata()
            data.items = [AgoraRtmMetadataItem(key: "k", value: "v")]
            try succeeded(await ben.kit.setUserMetadata(userId: "", data: data, options: nil))
            try succeeded(await ben.kit.publish(channelName: "anna", message: "done", option: toUser))
            try await eventually("what comes after the event") { anna.messages.present.count == 1 }
            #expect(anna.storage.present.count == 1)
            ben.destroy()
        }
    }

    private var toUser: AgoraRtmPublishOptions {
        let options = AgoraRtmPublishOptions()
        options.channelType = .user
        return options
    }

    @Test("Web 2.2.4: calls that a logout has ended bring results again after the next login")
    func logoutAmidCalls() async throws {
        try await behindLine { anna, line, _ in
            let kit = try anna.kit
            let presence = try #require(kit.getPresence())
            for round in 0..<5 {
                let ended = Shared(0)
                line.spoil(.stall)
                for _ in 0..<4 {
                    kit.getChannelMetadata(channelName: "c", channelType: .message) { _, _ in
                        ended.withLock { $0 += 1 }
                    }
                    kit.subscribe(channelName: "c\(round)", option: nil) { _, _ in ended.withLock { $0 += 1 }
                    }
                    presence.whoNow(channelName: "c", channelType: .message, options: nil) { _, _ in
                        ended.withLock { $0 += 1 }
                    }
                }
                try succeeded(await kit.logout())
                try await eventually("each call has ended") { ended.present == 12 }
                line.spoil(.reset)
                try succeeded(await kit.login(nil))
                try succeeded(await kit.getChannelMetadata(channelName: "c", channelType: .message))
                try succeeded(await kit.subscribe(channelName: "c\(round)", option: nil))
                try succeeded(
                    await presence.whoNow(channelName: "c", channelType: .message, options: nil))
            }
        }
    }

    @Test("Web 2.2.4, D-4: a removal looks at keys, however long the values of its object are")
    func removal() async throws {
        try await behindLine { anna, _, _ in
            let kit = try anna.kit
            let data = AgoraRtmMetadata()
            data.items = [AgoraRtmMetadataItem(key: "k", value: "v")]
            try succeeded(await kit.setUserMetadata(userId: "", data: data, options: nil))
            data.items = [AgoraRtmMetadataItem(key: "k", value: String(repeating: "v", count: 40_000))]
            #expect(
                await kit.setUserMetadata(userId: "", data: data, options: nil).1?.errorCode
                    == .storageValueLengthOverflow)
            try succeeded(await kit.removeUserMetadata(userId: "", data: data, options: nil))
            let left = try succeeded(await kit.getUserMetadata(userId: "")).data
            #expect(left?.items?.isEmpty == true)
        }
    }

    @Test("Web 2.2.4: the history of binary messages has the bytes that were published")
    func binaryHistory() async throws {
        try await behindLine { anna, _, _ in
            let kit = try anna.kit
            let options = AgoraRtmPublishOptions()
            options.storeInHistory = true
            let payloads = [
                Data((0...255).map(UInt8.init)), Data(), Data([0]), Data("text".utf8), Data([0xFF, 0xFE]),
            ]
            for payload in payloads {
                try succeeded(await kit.publish(channelName: "log", data: payload, option: options))
            }
            try succeeded(await kit.publish(channelName: "log", message: "text", option: options))
            let history = try #require(kit.getHistory())
            let query = AgoraRtmGetHistoryMessagesOptions()
            try await eventually("all is stored") {
                let page = await history.getMessages(
                    channelName: "log", channelType: .message, options: query)
                return page.0?.messageList.count == payloads.count + 1
            }
            let page = try succeeded(
                await history.getMessages(channelName: "log", channelType: .message, options: query))
            let messages = page.messageList.reversed().map(\.message)
            #expect(messages.map(\.rawData) == payloads + [nil])
            #expect(messages.last?.stringData == "text")
        }
    }

    @Test("Web 2.2.4, S-3: each login that a token can't have, and each failing subscribe, has its own code")
    func codes() async throws {
        let flags = ["--apps", "\(SampleApp.id):\(SampleApp.certificate)", "--edge-subscriptions-max", "1"]
        try await RunningSystem.with(.standalone, edge: flags) { system in
            let later = WallClock.milliseconds() / 1000 + 300
            let config = AgoraRtmClientConfig(appId: SampleApp.id, userId: "anna")
            let place = AgoraRtmPrivateConfig()
            (place.serviceType, place.accessPointHosts) = ([.message, .stream], [system.address("edge")])
            config.privateConfig = place
            let kit = try AgoraRtmClientKit(config, delegate: nil)
            let elsewhere = try SampleApp.token(
                for: "anna", endsAt: later, appID: SampleApp.otherCertificate)
            #expect(await kit.login(elsewhere).1?.errorCode == .loginInconsistentAppId)
            let streamsAlone = try SampleApp.joinToken("room", for: "anna", endsAt: later)
            #expect(await kit.login(streamsAlone).1?.errorCode == .loginNotAuthorized)
            let lists = TokenPermissions.channels(read: ["news", "sports"], write: [])
            try succeeded(
                await kit.login(try SampleApp.token(for: "anna", endsAt: later, permissions: lists)))
            #expect(
                await kit.subscribe(channelName: "lobby", option: nil).1?.errorCode
                    == .channelSubscribePermissionDenied)
            #expect(
                await kit.subscribe(channelName: "a.b", option: nil).1?.errorCode == .invalidChannelName)
            try succeeded(await kit.subscribe(channelName: "news", option: nil))
            #expect(
                await kit.subscribe(channelName: "sports", option: nil).1?.errorCode
                    == .channelSubscribeFailed, "L-24")
            kit.destroy()
        }
    }
}
