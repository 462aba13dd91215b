import RTMClient
import RTMModel
import RTMTestSupport
import Testing

@testable import AgoraRtmKit

@Suite("AgoraRtmPresence", .ends(withinMinutes: 1))
struct PresenceTests {
    private func makeKit() throws -> AgoraRtmClientKit {
        try AgoraRtmClientKit(.local(), delegate: nil)
    }

    private static func block<Response: Sendable>(
        _ begin: (@escaping @Sendable (Response?, AgoraRtmErrorInfo?) -> Void) -> Void
    ) async -> AgoraRtmErrorInfo? {
        await withCheckedContinuation { continuation in begin { continuation.resume(returning: $1) } }
    }

    private typealias Call = (name: String, call: @Sendable (AgoraRtmPresence) async -> [AgoraRtmErrorInfo?])

    /// All calls, in both forms.
    private static let calls: [Call] = [
        (
            "whoNow",
            { presence in
                [
                    await presence.whoNow(channelName: "a", channelType: .message, options: nil).1,
                    await block {
                        presence.whoNow(channelName: "a", channelType: .message, options: nil, completion: $0)
                    },
                ]
            }
        ),
        (
            "getOnlineUsers",
            { presence in
                [
                    await presence.getOnlineUsers(channelName: "a", channelType: .message, options: nil).1,
                    await presence.getOnlineUser(channelName: "a", channelType: .message, options: nil).1,
                    await block {
                        presence.getOnlineUsers(
                            channelName: "a", channelType: .message, options: nil, completion: $0)
                    },
                    await block {
                        presence.getOnlineUser(
                            channelName: "a", channelType: .message, options: nil, completion: $0)
                    },
                ]
            }
        ),
        (
            "whereNow",
            { presence in
                [
                    await presence.whereNow(userId: "bob").1,
                    await block { presence.whereNow(userId: "bob", completion: $0) },
                ]
            }
        ),
        (
            "getUserChannels",
            { presence in
                [
                    await presence.getUserChannels(userId: "bob").1,
                    await block { presence.getUserChannels(userId: "bob", completion: $0) },
                ]
            }
        ),
        (
            "setState",
            { presence in
                [
                    await presence.setState(channelName: "a", channelType: .message, items: ["k": "v"]).1,
                    await block {
                        presence.setState(
                            channelName: "a", channelType: .message, items: ["k": "v"], completion: $0)
                    },
                ]
            }
        ),
        (
            "removeState",
            { presence in
                [
                    await presence.removeState(channelName: "a", channelType: .message, keys: []).1,
                    await block {
                        presence.removeState(
                            channelName: "a", channelType: .message, keys: [], completion: $0)
                    },
                ]
            }
        ),
        (
            "getState",
            { presence in
                [
                    await presence.getState(channelName: "a", channelType: .message, userId: "bob").1,
                    await block {
                        presence.getState(
                            channelName: "a", channelType: .message, userId: "bob", completion: $0)
                    },
                ]
            }
        ),
    ]

    @Test(
        "-10002 before login and -10018 after destroy, with the call's own name, in both forms (S-0b, S-8)",
        arguments: 0..<7)
    func withoutSession(number: Int) async throws {
        let (name, call) = Self.calls[number]
        let kit = try makeKit()
        let presence = try #require(kit.getPresence())
        for error in await call(presence) {
            #expect(error?.errorCode == .notLogin)
            #expect(error?.operation == name)
        }
        kit.destroy()
        for error in await call(presence) {
            #expect(error?.errorCode == .instanceAlreadyReleased)
            #expect(error?.operation == name)
        }
    }

    @Test("bad arguments come through the completion, with the name that was called")
    func badArguments() async throws {
        let presence = try #require(try makeKit().getPresence())
        let options = AgoraRtmGetOnlineUsersOptions()
        options.includeUserId = false
        options.includeState = true
        let alone = await presence.getOnlineUsers(channelName: "a", channelType: .message, options: options).1
        #expect(alone?.errorCode == .presenceInvalidArgument)
        #expect(alone?.operation == "getOnlineUsers")
        #expect(await presence.whereNow(userId: "").1?.errorCode == .invalidUserId)
        #expect(
            await presence.whoNow(channelName: "bob", channelType: .user, options: nil).1?.errorCode
                == .invalidChannelType)
        #expect(
            await presence.setState(channelName: "a", channelType: .message, items: [:]).1?.errorCode
                == .presenceInvalidArgument)
    }

    @Test("options begin with the documented defaults (P-31)")
    func options() {
        let older = AgoraRtmPresenceOptions()
        #expect(older.includeUserId && !older.includeState && older.page.isEmpty)
        let newer = AgoraRtmGetOnlineUsersOptions()
        #expect(newer.includeUserId && !newer.includeState && newer.page.isEmpty)
    }

    // MARK: Events

    private func event(_ change: PresenceEvent.Change) -> AgoraRtmPresenceEvent {
        AgoraRtmPresenceEvent(
            PresenceEvent(
                channelType: .message, channelName: "lobby", change: change, timestampMilliseconds: 7))
    }

    @Test("every presence event has its type and fields (P-1…P-7)")
    func events() {
        let bob = UserState(userID: "bob", states: ["mood": "good"])
        let snapshot = event(.snapshot([bob, UserState(userID: "carol")]))
        #expect(snapshot.type == .snapshot && snapshot.publisher == nil && snapshot.timestamp == 7)
        #expect(snapshot.channelType == .message && snapshot.channelName == "lobby")
        #expect(snapshot.snapshot.map(\.userId) == ["bob", "carol"])
        #expect(snapshot.snapshot.map(\.states) == [["mood": "good"], [:]])
        let types: [(PresenceEvent.Change, AgoraRtmPresenceEventType)] = [
            (.joined("bob"), .remoteJoinChannel),
            (.left("bob"), .remoteLeaveChannel),
            (.timedOut("bob"), .remoteConnectionTimeout),
            (.statesChanged(bob), .remoteStateChanged),
        ]
        for (change, type) in types {
            let event = event(change)
            #expect(event.type == type && event.publisher == "bob")
            #expect(event.states == (type == .remoteStateChanged ? bob.states : [:]))
            #expect(event.interval == nil && event.snapshot.isEmpty)
        }
        #expect(event(.outage(.notAskedFor)).type == .errorOutOfService)
    }

    @Test("P-46: who comes with states is shown with them, and they are an event of their own, too")
    func joinWithStates() {
        let event = PresenceEvent(
            channelType: .message, channelName: "lobby",
            change: .joined("bob", states: ["mood": "good"]), timestampMilliseconds: 7)
        let events = AgoraRtmPresenceEvent.events(of: event)
        #expect(events.map(\.type) == [.remoteJoinChannel, .remoteStateChanged])
        #expect(events.allSatisfy { $0.publisher == "bob" && $0.states == ["mood": "good"] })
    }

    @Test("an interval has its four lists and the occupancy (P-2)")
    func interval() throws {
        let event = event(
            .interval(
                PresenceInterval(
                    joined: ["a"], left: ["b"], timedOut: ["c"],
                    states: [UserState(userID: "a", states: ["k": "v"])], occupancy: 9)))
        let interval = try #require(event.interval)
        #expect(event.type == .interval && event.publisher == nil)
        #expect(interval.joinUserList == ["a"] && interval.leaveUserList == ["b"])
        #expect(interval.timeoutUserList == ["c"] && interval.totalOccupancy == 9)
        #expect(interval.userStateList.map(\.states) == [["k": "v"]])
    }
}
