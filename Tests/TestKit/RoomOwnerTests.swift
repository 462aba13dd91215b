import AgoraRtmKit
import Foundation
import RTMTestKit
import RTMTestSupport
import Synchronization
import Testing

/// What a library for rooms does with the compatible API: a lock says who is the arbiter, who alone writes
/// the chairs into the metadata, and everybody shows its chair as a state that is set before the subscribe.
/// An own entry without a chair is that of somebody whom the arbiter has removed, so the library ends the
/// room.
@Suite("A room with an owner", .ends(withinMinutes: 2))
struct RoomOwnerTests {
    @Test("P-41, P-42, K-11: it survives its arbiter, a long absence, and who leaves and comes back")
    func room() async throws {
        let world = try await TestWorld()
        let owner = try await Member("owner", in: world)
        let ann = try await Member("ann", in: world)
        let ben = try await Member("ben", in: world)

        #expect(
            await owner.lock.setLock(channelName: "room", channelType: .message, lockName: "arbiter", ttl: 10)
                .1 == nil)
        #expect(await owner.becomesArbiter(waiting: false) == nil)
        #expect(await owner.write(["title": "Tea", "chair0": "owner"]) == nil)
        for (member, chair) in [(owner, "0"), (ann, ""), (ben, "")] { await member.enter(chair: chair) }
        #expect(
            await world.advance(upTo: .seconds(5)) { [owner, ann, ben].allSatisfy { $0.own.count == 1 } })
        #expect(owner.own == [["chair": "0"]])
        #expect(ann.own == [["chair": ""]])

        // A chair is asked for, and the arbiter writes it.
        let ask = AgoraRtmPublishOptions()
        ask.channelType = .user
        #expect(await ann.kit.publish(channelName: "owner", message: "1", option: ask).1 == nil)
        #expect(await world.advance(upTo: .seconds(5)) { owner.asked == ["ann: 1"] })
        #expect(await owner.write(["chair1": "ann"]) == nil)
        #expect(await ann.show(chair: "1") == nil)
        #expect(
            await world.advance(upTo: .seconds(5)) { ben.chairs == ["chair0": "owner", "chair1": "ann"] })
        #expect(await ann.write(["chair1": "ben"]) != nil, "ann is not the arbiter")

        // The arbiter is gone, for longer than its presence timeout, and there is a new one.
        await world.cut("owner")
        #expect(await ann.becomesArbiter(waiting: true) == nil)
        #expect(await ann.write(["chair2": "ben"]) == nil)
        #expect(await world.advance(upTo: .seconds(60)) { ann.gone == ["owner"] })
        await world.mend("owner")
        #expect(await world.advance(upTo: .seconds(60)) { owner.own.count > 1 })
        #expect(owner.own.allSatisfy { $0 == ["chair": "0"] }, "\(owner.own)")
        #expect(await owner.write(["chair2": "owner"]) != nil, "owner isn't the arbiter any more")
        #expect(await world.advance(upTo: .seconds(10)) { await ben.chair(of: "owner") == "0" })

        // Who leaves and comes back has the chair that it sets then.
        #expect(await owner.kit.unsubscribe("room").1 == nil)
        let count = owner.own.count
        await owner.enter(chair: "3")
        #expect(await world.advance(upTo: .seconds(10)) { owner.own.count > count })
        #expect(owner.own.last == ["chair": "3"])

        // The arbiter ends the room.
        #expect(
            await ann.storage.removeChannelMetadata(
                channelName: "room", channelType: .message, data: AgoraRtmMetadata(), options: nil,
                lock: "arbiter"
            ).1 == nil)
        #expect(
            await ann.lock.releaseLock(channelName: "room", channelType: .message, lockName: "arbiter").1
                == nil)
        #expect(
            await ann.lock.removeLock(channelName: "room", channelType: .message, lockName: "arbiter").1
                == nil)
        #expect(await world.advance(upTo: .seconds(5)) { ben.chairs.isEmpty })
        for member in [owner, ann, ben] { member.kit.destroy() }
        await world.end()
    }
}

private final class Member: NSObject, AgoraRtmClientDelegate, Sendable {
    private struct Received {
        var own: [[String: String]] = []
        var asked: [String] = []
        var gone: [String] = []
        var chairs: [String: String] = [:]
    }

    let kit: AgoraRtmClientKit
    let lock: AgoraRtmLock
    let storage: AgoraRtmStorage
    private let presence: AgoraRtmPresence
    private let userID: String
    private let received = Mutex(Received())

    init(_ userID: String, in world: TestWorld) async throws {
        let config = AgoraRtmClientConfig(appId: world.appID, userId: userID)
        let place = AgoraRtmPrivateConfig()
        place.serviceType = [.message]
        place.accessPointHosts = ["\(world.server)"]
        config.privateConfig = place
        config.presenceTimeout = 5
        config.callbackQueue = DispatchQueue(label: userID)
        self.userID = userID
        kit = try AgoraRtmClientKit(config, delegate: nil)
        lock = try #require(kit.getLock())
        storage = try #require(kit.getStorage())
        presence = try #require(kit.getPresence())
        super.init()
        kit.addDelegate(self)
        #expect(await kit.login(token: world.appID).1 == nil)
    }

    /// What each snapshot says of this user.
    var own: [[String: String]] { received.withLock { $0.own } }
    /// Who has asked for which chair.
    var asked: [String] { received.withLock { $0.asked } }
    var gone: [String] { received.withLock { $0.gone } }
    var chairs: [String: String] { received.withLock { $0.chairs } }

    func enter(chair: String) async {
        #expect(await show(chair: chair) == nil)
        let option = AgoraRtmSubscribeOptions()
        option.features = [.message, .presence, .metadata, .lock]
        #expect(await kit.subscribe(channelName: "room", option: option).1 == nil)
    }

    func show(chair: String) async -> AgoraRtmErrorInfo? {
        await presence.setState(channelName: "room", channelType: .message, items: ["chair": chair]).1
    }

    func chair(of userID: String) async -> String? {
        await presence.getState(channelName: "room", channelType: .message, userId: userID).0?.state.states[
            "chair"]
    }

    func becomesArbiter(waiting: Bool) async -> AgoraRtmErrorInfo? {
        await lock.acquireLock(
            channelName: "room", channelType: .message, lockName: "arbiter", retry: waiting
        ).1
    }

    /// All items in one call, under the arbiter's lock.
    func write(_ items: [String: String]) async -> AgoraRtmErrorInfo? {
        let data = AgoraRtmMetadata()
        data.items = items.map { AgoraRtmMetadataItem(key: $0.key, value: $0.value) }
        return await storage.setChannelMetadata(
            channelName: "room", channelType: .message, data: data, options: nil, lock: "arbiter"
        ).1
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceivePresenceEvent event: AgoraRtmPresenceEvent) {
        received.withLock { received in
            switch event.type {
            case .snapshot:
                received.own += event.snapshot.filter { $0.userId == userID }.map(\.states)
            case .remoteConnectionTimeout: received.gone += [event.publisher ?? ""]
            default: break
            }
        }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveMessageEvent event: AgoraRtmMessageEvent) {
        received.withLock { $0.asked.append("\(event.publisher): \(event.message.stringData ?? "")") }
    }

    func rtmKit(_ rtmKit: AgoraRtmClientKit, didReceiveStorageEvent event: AgoraRtmStorageEvent) {
        let items = (event.data.items ?? []).filter { $0.key.hasPrefix("chair") }
        received.withLock { received in
            received.chairs = Dictionary(uniqueKeysWithValues: items.map { ($0.key, $0.value) })
        }
    }
}
