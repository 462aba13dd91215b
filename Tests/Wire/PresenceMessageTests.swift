import NIOCore
import RTMModel
import RTMProtocol
import SwiftProtobuf
import Testing

@testable import RTMWire

/// These tests take requests of clients to presence, and its answers, from one codec to the other.
@Suite("Messages of presence")
struct PresenceMessageTests {
    /// The call as an edge passes it on: the one field of ClientFrame.body, with its key.
    private func read<Result>(
        _ body: Rtm_Client_ClientFrame.OneOf_Body, _ look: (PresenceCall) throws -> Result
    ) throws -> Result {
        let bytes: [UInt8] = try Rtm_Client_ClientFrame.with { $0.body = body }.serializedBytes()
        let arena = DecodeArena()
        return try bytes.withUnsafeBytes { try look(PresenceCall($0, in: arena)) }
    }

    @Test("every call is read field by field")
    func calls() throws {
        try read(
            .whoNow(
                .with {
                    ($0.channelType, $0.channel, $0.page) = (.stream, "room", "p")
                    ($0.includeUserID, $0.includeState) = (true, true)
                })
        ) { call in
            guard case .whoNow(let read) = call else { return #expect(Bool(false), "\(call)") }
            #expect(read.channel.type == .stream && read.channel.name.string == "room")
            #expect(read.includesUserID && read.includesState && read.page.string == "p")
        }
        try read(.whereNow(.with { $0.userID = "anna" })) { call in
            guard case .whereNow(let user) = call else { return #expect(Bool(false), "\(call)") }
            #expect(user.string == "anna")
        }
        try read(
            .setState(
                .with {
                    ($0.channelType, $0.channel) = (.message, "room")
                    $0.items = [.with { ($0.key, $0.value) = ("a", "ä") }, .with { $0.key = "b" }]
                })
        ) { call in
            guard case .setState(let channel, let items) = call else {
                return #expect(Bool(false), "\(call)")
            }
            #expect(channel.type == .message && channel.name.string == "room")
            #expect(items.map(\.key.string) == ["a", "b"] && items.map(\.value.string) == ["ä", ""])
        }
        try read(
            .getState(.with { ($0.channelType, $0.channel, $0.userID) = (.message, "room", "bob") })
        ) { call in
            guard case .getState(let channel, let user) = call else {
                return #expect(Bool(false), "\(call)")
            }
            #expect(channel.name.string == "room" && user.string == "bob")
        }
        try read(
            .removeState(.with { ($0.channelType, $0.channel, $0.keys) = (.message, "room", ["x", "y"]) })
        ) { call in
            guard case .removeState(_, let keys) = call else { return #expect(Bool(false), "\(call)") }
            #expect(keys.map(\.string) == ["x", "y"])
        }
    }

    @Test("what is no call, no channel type or no message is distinguished from calls")
    func foreign() throws {
        try read(.logout(.init())) { call in
            guard case .unknown = call else { return #expect(Bool(false), "\(call)") }
        }
        try read(.whoNow(.with { $0.channelType = .UNRECOGNIZED(9) })) { call in
            guard case .whoNow(let read) = call else { return #expect(Bool(false), "\(call)") }
            #expect(read.channel.type == nil)
        }
        // A key with a NUL in it would otherwise be another key.
        #expect(throws: WireError.textWithNul) {
            try read(.setState(.with { $0.items = [.with { $0.key = "a\0b" }] })) { _ in }
        }
        #expect(throws: WireError.undecodable) {
            try [0xFF, 0x01].withUnsafeBytes { _ = try PresenceCall($0, in: DecodeArena()) }
        }
    }

    private let users = [
        UserState(userID: "anna", items: [StateItem(key: "a", value: "1"), StateItem(key: "b", value: "")]),
        UserState(userID: "bob"),
    ]
    private let expected: [Rtm_Client_UserState] = [
        .with {
            $0.userID = "anna"
            $0.items = [.with { ($0.key, $0.value) = ("a", "1") }, .with { $0.key = "b" }]
        },
        .with { $0.userID = "bob" },
    ]

    /// The bytes as a CallResponse carries them.
    private func answer(_ body: some ServerFrameBody) throws -> Rtm_Client_ServerFrame.OneOf_Body? {
        try Rtm_Client_ServerFrame(serializedBytes: Array(body.field.readableBytesView)).body
    }

    @Test("answers follow the schema")
    func answers() throws {
        #expect(
            try answer(OnlineUsers(users: users, nextPage: "n", total: 2))
                == .onlineUsers(.with { ($0.users, $0.nextPage, $0.total) = (expected, "n", 2) }))
        #expect(
            try answer(UserChannels(channels: [.init(type: .stream, name: "room")]))
                == .userChannels(
                    .with { $0.channels = [.with { ($0.type, $0.name) = (.stream, "room") }] }))
        #expect(try answer(users[0]) == .userState(expected[0]))
        let snapshot = PresenceSnapshot(
            channel: ChannelKey(appID: "app", type: .message, name: "room"),
            position: StreamPosition(epoch: 4, offset: 0), users: users, more: true)
        #expect(
            try answer(snapshot)
                == .presenceSnapshot(
                    .with {
                        ($0.channelType, $0.channel, $0.users, $0.more) = (.message, "room", expected, true)
                        $0.position = .with { $0.epoch = 4 }
                    }))
    }

    @Test("events follow the schema, each as one field of a publication")
    func events() throws {
        let change = StateChange(userID: "anna", items: users[0].items, removed: ["c"], isWhole: true)
        let expectedChange = Rtm_Client_StateChange.with {
            ($0.userID, $0.items, $0.removed, $0.whole) = ("anna", expected[0].items, ["c"], true)
        }
        let interval = PresenceInterval(
            joined: ["a", "b"], left: ["b"], timedOut: ["c"], states: [change])
        let all: [(PresenceEvent, Rtm_Client_PresenceEvent)] = [
            (.joined, .with { $0.type = .presenceEventRemoteJoin }),
            (.joinedWithStates, .with { ($0.type, $0.states) = (.presenceEventRemoteJoin, .init()) }),
            (.left, .with { $0.type = .presenceEventRemoteLeave }),
            (.timedOut, .with { $0.type = .presenceEventRemoteTimeout }),
            (
                .statesChanged(change),
                .with { ($0.type, $0.states) = (.presenceEventRemoteStateChanged, expectedChange) }
            ),
            (
                .interval(interval),
                .with {
                    $0.type = .presenceEventInterval
                    $0.interval = .with {
                        ($0.joined, $0.left, $0.timedOut, $0.states) = (
                            ["a", "b"], ["b"], ["c"], [expectedChange]
                        )
                    }
                }
            ),
        ]
        for (event, expected) in all {
            let publication = try Rtm_Client_Publication(
                serializedBytes: Array(event.eventField.readableBytesView))
            #expect(publication.event == .presence(expected))
            let kind = event.eventField.withUnsafeReadableBytes { EventPublication.kind(of: WireText($0)) }
            #expect(kind == .event)
        }
    }
}
