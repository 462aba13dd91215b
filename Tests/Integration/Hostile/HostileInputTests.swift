import Foundation
import NIOCore
import RTMClient
import RTMClientTestSupport
import RTMProtocol
import RTMTestSupport
import Testing

/// Bad input ends its session or gets an error; the other sessions notice nothing.
@Suite(.serialized) struct HostileInputTests {
    /// Runs the body while two well-behaved users exchange messages. Afterwards they still can.
    private func amongOthers(edge: [String] = [], _ body: (RunningSystem) async throws -> Void) async throws {
        try await RunningSystem.with(.standalone, edge: edge) { system in
            try await system.withClients("alice", "bob") { clients in
                var received = clients[1].events().makeAsyncIterator()
                try await clients[1].subscribe(to: "lobby", features: .message)
                try await body(system)
                try await clients[0].publish("all well", to: .channel("lobby"))
                #expect(await received.nextMessage()?.payload == .text("all well"))
                #expect(clients[0].linkState == .connected)
                #expect(clients[1].linkState == .connected)
            }
        }
    }

    private func lastWord(_ connection: RawConnection) async -> Rtm_Client_DisconnectCode? {
        var last: Rtm_Client_DisconnectCode?
        for await frame in connection.frames {
            if case .disconnect(let disconnect) = frame.body { last = disconnect.code }
        }
        return last
    }

    @Test("Garbage, an unknown wire type, and a frame that claims 4 GB")
    func garbage() async throws {
        let cases: [([UInt8], Rtm_Client_DisconnectCode)] = [
            ([0, 0, 0, 3, 0xFF, 0xFF, 0xFF], .disconnectProtocolError),
            ([0, 0, 0, 2, 0x0F, 0x01], .disconnectProtocolError),
            ([0, 0, 0, 0], .disconnectProtocolError),
            ([0xFF, 0xFF, 0xFF, 0xFF], .disconnectFrameTooLarge),
            ([0x47, 0x45, 0x54, 0x20, 0x2F, 0x20], .disconnectProtocolError),
        ]
        try await amongOthers { system in
            for (bytes, code) in cases {
                let connection = try await RawConnection.open(system.address("edge"))
                try await connection.send(bytes: bytes)
                #expect(await lastWord(connection) == code, "\(bytes)")
            }
        }
    }

    @Test("A frame beyond frame_bytes_max is refused by its announcement, after login too")
    func oversized() async throws {
        try await amongOthers { system in
            let connection = try await RawConnection.open(system.address("edge"))
            try await connection.logIn("mallory")
            try await connection.send(bytes: [0, 1, 0, 1])
            #expect(await lastWord(connection) == .disconnectFrameTooLarge)
        }
    }

    @Test("Requests out of turn: before Hello, before login, without an id, of an unknown kind")
    func outOfTurn() async throws {
        try await amongOthers { system in
            let first = try await RawConnection.open(system.address("edge"))
            try await first.send(1, .heartbeat(.init()))
            #expect(await lastWord(first) == .disconnectProtocolError)

            let second = try await RawConnection.open(system.address("edge"))
            try await second.hello()
            try await second.send(2, .publish(.init()))
            // Field 200 of the frame is a request of another version.
            try await second.send(bytes: [0, 0, 0, 5, 0x08, 0x03, 0xC2, 0x0C, 0x00])
            var answers = second.frames.makeAsyncIterator()
            _ = await answers.next()
            #expect(await answers.next()?.error.code == .errorNotLogin)
            #expect(await answers.next()?.requestID == 3)
            try await second.close()

            let third = try await RawConnection.open(system.address("edge"))
            try await third.logIn("mallory")
            var replies = third.frames.makeAsyncIterator()
            _ = await replies.next()
            _ = await replies.next()
            try await third.send(bytes: [0, 0, 0, 5, 0x08, 0x03, 0xC2, 0x0C, 0x00])
            try await third.send(0, .heartbeat(.init()))
            let unknown = await replies.next()
            #expect(unknown?.error.code == .errorServiceNotSupported)
            #expect(unknown?.requestID == 3)
            #expect(await replies.next()?.disconnect.code == .disconnectProtocolError)
        }
    }

    @Test(
        "Refused logins say why and end: unknown app, bad user id, a token where none is due, no common version"
    )
    func logins() async throws {
        try await amongOthers { system in
            let cases: [(String, String, String, Rtm_Client_ErrorCode)] = [
                ("mallory", "nobody", "", .errorInvalidAppID),
                ("", "dev", "", .errorInvalidUserID),
                ("mal/lory", "dev", "", .errorInvalidUserID),
                (String(repeating: "m", count: 65), "dev", "", .errorInvalidUserID),
                ("mallory", "dev", "007eJx", .errorInvalidToken),
            ]
            for (user, app, token, code) in cases {
                let connection = try await RawConnection.open(system.address("edge"))
                try await connection.logIn(user, app: app, token: token)
                var answers = connection.frames.makeAsyncIterator()
                _ = await answers.next()
                let refusal = await answers.next()
                #expect(refusal?.error.code == code)
                #expect(refusal?.error.reason.isEmpty == false)
                #expect(await answers.next()?.disconnect.code == .disconnectLoginRefused)
                #expect(await answers.next() == nil)
            }
            let newer = try await RawConnection.open(system.address("edge"))
            var hello = Rtm_Client_Hello()
            hello.versionMin = 2
            hello.versionMax = 9
            try await newer.send(1, .hello(hello))
            #expect(await lastWord(newer) == .disconnectVersionUnsupported)
        }
    }

    @Test("Names and sizes: each refusal has its code, and the session goes on (L-4, L-7, L-10, L-20, L-22)")
    func refusals() async throws {
        try await amongOthers { system in
            let connection = try await RawConnection.open(system.address("edge"))
            try await connection.logIn("mallory")
            var answers = connection.frames.makeAsyncIterator()
            _ = await answers.next()
            _ = await answers.next()
            let cases: [((inout Rtm_Client_Publish) -> Void, Rtm_Client_ErrorCode?)] = [
                ({ $0.payload = .init(count: 32_769) }, .errorChannelMessageLengthExceedLimitation),
                ({ $0.payload = .init(count: 32_768) }, nil),
                ({ $0.channel = "a/b" }, .errorInvalidChannelName),
                ({ $0.channel = "_system" }, .errorInvalidChannelName),
                ({ $0.channel = "" }, .errorInvalidChannelName),
                ({ $0.channel = String(repeating: "c", count: 65) }, .errorInvalidChannelName),
                (
                    {
                        $0.channelType = .user
                        $0.channel = "b*b"
                    }, .errorInvalidUserID
                ),
                ({ $0.channelType = .stream }, .errorInvalidChannelType),
                ({ $0.channelType = .UNRECOGNIZED(77) }, .errorInvalidChannelType),
                (
                    { $0.customType = String(repeating: "t", count: 33) },
                    .errorChannelCustomTypeLengthOverflow
                ),
                ({ $0.customType = "tab\t" }, .errorChannelInvalidCustomType),
                (
                    {
                        $0.messageType = .text
                        $0.payload = .init([0xC3, 0x28])
                    }, .errorChannelInvalidMessage
                ),
                ({ $0.messageType = .UNRECOGNIZED(9) }, .errorChannelUnsupportedMessageType),
            ]
            for (number, (change, code)) in cases.enumerated() {
                var publish = Rtm_Client_Publish()
                publish.channelType = .message
                publish.channel = "elsewhere"
                change(&publish)
                try await connection.send(UInt64(number + 3), .publish(publish))
                let answer = await answers.next()
                #expect(answer?.requestID == UInt64(number + 3))
                let refused: Rtm_Client_ErrorCode? =
                    if case .error(let error) = answer?.body { error.code } else { nil }
                #expect(refused == code, "case \(number)")
            }
            try await connection.close()
        }
    }

    @Test("A client that never finishes the handshake is told so and closed; so is one that falls silent")
    func silence() async throws {
        try await amongOthers(edge: ["--edge-handshake-timeout", "300ms"]) { system in
            let mute = try await RawConnection.open(system.address("edge"))
            #expect(await lastWord(mute) == .disconnectHandshakeTimeout)
            let half = try await RawConnection.open(system.address("edge"))
            try await half.hello()
            try await half.send(bytes: [0, 0, 0])
            #expect(await lastWord(half) == .disconnectHandshakeTimeout)
        }
    }

    @Test("A client that never reads is cut off; the other subscribers of its channel get everything")
    func slowConsumer() async throws {
        try await amongOthers(edge: ["--edge-outbound-bytes-max", "64KiB"]) { system in
            let deaf = try await RawConnection.open(system.address("edge"))
            try await deaf.logIn("mallory")
            var answers = deaf.frames.makeAsyncIterator()
            _ = await answers.next()
            _ = await answers.next()
            var subscribe = Rtm_Client_Subscribe()
            subscribe.channel = "firehose"
            subscribe.features = 4
            try await deaf.send(3, .subscribe(subscribe))
            #expect(await answers.next()?.subscribed.hasPosition == true)
            try await deaf.stopReading()
            try await system.withClients("carol", "dave") { clients in
                var received = clients[1].events(buffering: .dropOldest(capacity: 2_000)).makeAsyncIterator()
                try await clients[1].subscribe(to: "firehose", features: .message)
                let payload = String(repeating: "x", count: 30_000)
                // 30 MB are more than the sockets in between hold. Dave, who has as little room, keeps up.
                for _ in 0..<1_000 {
                    try await clients[0].publish(payload, to: .channel("firehose"))
                    #expect(await received.nextMessage()?.payload == .text(payload))
                }
            }
            let metrics = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
                .body
            #expect(metrics.contains("rtm_edge_disconnects_total{code=\"slowConsumer\"} 1"))
            try await deaf.close()
        }
    }

    @Test("More connections than an address may have are told so")
    func connectionLimit() async throws {
        try await amongOthers(edge: ["--edge-connections-per-address-max", "4"]) { system in
            let third = try await RawConnection.open(system.address("edge"))
            let fourth = try await RawConnection.open(system.address("edge"))
            // Who hasn't logged in would make room.
            try await third.enter("third")
            try await fourth.enter("fourth")
            let fifth = try await RawConnection.open(system.address("edge"))
            #expect(await lastWord(fifth) == .disconnectTooManyConnections)
            try await third.close()
            try await fourth.close()
        }
    }

    @Test("Fifty channels and no more, asked for at once (L-24)")
    func subscriptionLimit() async throws {
        try await amongOthers { system in
            let connection = try await RawConnection.open(system.address("edge"))
            try await connection.logIn("mallory")
            var answers = connection.frames.makeAsyncIterator()
            _ = await answers.next()
            _ = await answers.next()
            var burst: [UInt8] = []
            for number in 1...51 {
                var subscribe = Rtm_Client_Subscribe()
                subscribe.channel = "channel \(number)"
                subscribe.features = 4
                burst += try RawConnection.frame(UInt64(number + 2), .subscribe(subscribe))
            }
            try await connection.send(bytes: burst)
            var refused: [Rtm_Client_ServerFrame] = []
            for _ in 1...51 {
                let answer = try #require(await answers.next())
                if case .error = answer.body { refused.append(answer) }
            }
            #expect(refused.map(\.requestID) == [53])
            #expect(refused.first?.error.code == .errorChannelSubscribeFailed)
            #expect(refused.first?.error.limit.value == 50)
            try await connection.close()
        }
    }

    @Test("S-10: a second login of a user is answered at once, and the first is told why it ends")
    func secondLogin() async throws {
        try await amongOthers { system in
            let first = try await RawConnection.open(system.address("edge"))
            try await first.logIn("mallory")
            var answers = first.frames.makeAsyncIterator()
            _ = await answers.next()
            #expect(await answers.next()?.loggedIn.sessionID != 0)
            let second = try await RawConnection.open(system.address("edge"))
            try await second.logIn("mallory")
            var others = second.frames.makeAsyncIterator()
            _ = await others.next()
            #expect(await others.next()?.loggedIn.sessionID != 0)
            #expect(await answers.next()?.disconnect.code == .disconnectSuperseded)
            #expect(await answers.next() == nil)
            try await second.close()
        }
    }
}
