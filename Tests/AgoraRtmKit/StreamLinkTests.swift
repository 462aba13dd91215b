import RTMClient
import RTMModel
import RTMTestSupport
import Testing

@testable import AgoraRtmKit

/// The links of stream channels as the compatible API shows them (S-30, S-31), and its objects.
@Suite struct StreamLinkTests {
    private var table = StreamLinkTable()

    private func change(_ state: LinkState, _ reason: LinkStateReason = .connectionError) -> LinkStateEvent {
        LinkStateEvent(
            currentState: state, previousState: .connected, operation: .serverTimeout, reasonCode: reason,
            reason: "why", timestampMilliseconds: 7)
    }

    private func text(_ event: LinkStateEvent?) -> String {
        guard let event else { return "nothing" }
        #expect(event.serviceType == .stream && event.affectedChannels == ["room"])
        return "\(event.previousState)-\(event.currentState) \(event.operation) \(event.reasonCode)"
    }

    @Test("S-31: join, loss, return and leave each have their operation and reason")
    mutating func life() {
        #expect(text(table.join("room", at: 1)) == "idle-connecting join join")
        #expect(table.linkChanged(change(.disconnected)) == [], "what isn't joined isn't lost")
        #expect(text(table.joined("room", at: 2)) == "connecting-connected join joinSuccess")
        #expect(table.join("room", at: 2) == nil)
        #expect(
            table.linkChanged(change(.disconnected)).map(text)
                == ["connected-connecting autoReconnect autoReconnect"])
        #expect(table.linkChanged(change(.connecting)) == [])
        #expect(
            table.linkChanged(change(.connected)).map(text)
                == ["connecting-connected reconnected reconnectSuccess"])
        #expect(text(table.left("room", at: 3)) == "connected-idle leave leave")
        #expect(table.linkChanged(change(.failed)) == [])
    }

    @Test("S-31: after a loss beyond the resume window the channel is joined again")
    mutating func rejoin() {
        _ = table.join("room", at: 1)
        _ = table.joined("room", at: 2)
        _ = table.linkChanged(change(.disconnected))
        _ = table.linkChanged(change(.suspended))
        _ = table.linkChanged(change(.connecting))
        let events = table.linkChanged(change(.connected))
        #expect(events.map(text) == ["connecting-connected reconnected rejoin"])
        #expect(events.map(\.isResumed) == [false])
        _ = table.linkChanged(change(.disconnected))
        let next = table.linkChanged(change(.connected))
        #expect(next.map(text) == ["connecting-connected reconnected reconnectSuccess"])
        #expect(next.map(\.isResumed) == [true])
    }

    @Test("S-31: what a join asked for and didn't get is named, and the state stays")
    mutating func lacks() {
        _ = table.join("room", at: 1)
        _ = table.joined("room", at: 2)
        #expect(
            text(table.lacks(.presence, "room", at: 3)) == "connected-connected join presenceNotReady")
        #expect(
            text(table.lacks(.metadata, "room", at: 3)) == "connected-connected join storageNotAvailable")
        #expect(text(table.lacks(.lock, "room", at: 3)) == "connected-connected join lockNotAvailable")
        #expect(table.lacks(.quiet, "room", at: 3) == nil)
        #expect(table.lacks(.presence, "hall", at: 3) == nil, "it isn't joined")
    }

    @Test("S-31, L-25: too many joined channels have a reason of their own; a full channel hasn't")
    mutating func limits() {
        let tooMany = RTMError(
            .channelJoinFailed, "no", limit: .init(name: Limits.joinedStreamChannelsName, value: 100))
        _ = table.join("room", at: 1)
        #expect(
            text(table.joinFailed("room", tooMany, at: 2))
                == "connecting-failed join channelInstanceExceedLimitation")
        let full = RTMError(
            .channelJoinFailed, "no", limit: .init(name: "users in a channel", value: 1000))
        _ = table.join("room", at: 3)
        #expect(text(table.joinFailed("room", full, at: 4)) == "connecting-failed join joinFailed")
    }

    @Test("S-30, S-31: a join that fails, and a link that ends for good, are failed; only a new join helps")
    mutating func failures() {
        _ = table.join("room", at: 1)
        #expect(
            text(table.joinFailed("room", RTMError(.tokenExpired, "old"), at: 2))
                == "connecting-failed join tokenExpired")
        #expect(text(table.join("room", at: 3)) == "failed-connecting join join")
        _ = table.joined("room", at: 4)
        #expect(
            table.linkChanged(change(.failed, .sameUidLogin)).map(text)
                == ["connected-failed serverTimeout sameUidLogin"])
        #expect(table.linkChanged(change(.connected)) == [])
        _ = table.join("room", at: 5)
        _ = table.joined("room", at: 6)
        #expect(
            table.linkChanged(change(.idle, .logout)).map(text) == ["connected-idle serverTimeout logout"])
    }

    @Test("a generated history: the state is that of the last event, and events chain", arguments: 1...40)
    func histories(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = StreamLinkTable()
        var states: [String: LinkState] = [:]
        for step in 0..<300 {
            let name = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
            let time = UInt64(step)
            let link = LinkState.allCases[Int.random(in: 0..<LinkState.allCases.count, using: &random)]
            let events: [LinkStateEvent?] =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: [table.join(name, at: time)]
                case 1: [table.joined(name, at: time)]
                case 2: [table.joinFailed(name, RTMError(.channelJoinFailed, "no"), at: time)]
                case 3: [table.left(name, at: time)]
                default: table.linkChanged(change(link))
                }
            for event in events.compactMap(\.self) {
                let channel = event.affectedChannels[0]
                #expect(event.previousState == states[channel] ?? .idle, "step \(step)")
                #expect(event.previousState != event.currentState)
                #expect([.idle, .connecting, .connected, .failed].contains(event.currentState))
                states[channel] = event.currentState
            }
        }
    }

    @Test("C-1: the same name is the same object until it is destroyed; a bad name and -10018 are thrown")
    func objects() throws {
        let kit = try AgoraRtmClientKit(.local(userId: "anna"), delegate: nil)
        let room = try kit.createStreamChannel("room")
        #expect(room.getChannelName() == "room")
        #expect(try kit.createStreamChannel("room") === room)
        let error = #expect(throws: AgoraRtmErrorInfo.self) { try kit.createStreamChannel("a/b") }
        #expect(error?.errorCode == .invalidChannelName)
        #expect(room.destroy() == .ok && room.destroy() == .instanceAlreadyReleased)
        let next = try kit.createStreamChannel("room")
        #expect(next !== room)
        kit.destroy()
        #expect(next.destroy() == .instanceAlreadyReleased)
        let released = #expect(throws: AgoraRtmErrorInfo.self) { try kit.createStreamChannel("room") }
        #expect(released?.errorCode == .instanceAlreadyReleased)
    }

    @Test("L-25: an app has a hundred stream channels at most")
    func limit() throws {
        let kit = try AgoraRtmClientKit(.local(userId: "anna"), delegate: nil)
        let rooms = try (0..<100).map { try kit.createStreamChannel("room\($0)") }
        let error = #expect(throws: AgoraRtmErrorInfo.self) { try kit.createStreamChannel("more") }
        #expect(error?.errorCode == .channelInstanceExceedLimitation)
        rooms[0].destroy()
        _ = try kit.createStreamChannel("more")
        kit.destroy()
    }

    @Test("options begin with the documented defaults")
    func options() {
        #expect(
            AgoraRtmJoinChannelOption().features == [.presence] && AgoraRtmJoinChannelOption().token == nil)
        let topic = AgoraRtmJoinTopicOption()
        #expect(topic.qos == .unordered && topic.priority == .normal && topic.meta == nil)
        #expect(!topic.syncWithMedia)
        #expect(AgoraRtmTopicMessageOptions().customType.isEmpty && AgoraRtmTopicMessageOptions().sendTs == 0)
        #expect(AgoraRtmTopicOption().users == nil)
    }
}
