import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMPresenceServer

/// The service as an edge meets it: over links, with a messaging node behind it.
@Suite("The presence service")
struct PresenceServiceTests {
    @Test("a join's event is in the log before the answer, and the snapshot is true at its position (P-1)")
    func joins() async throws {
        try await ServiceFixture.with { service in
            let first = try await service.join("anna", session: 1)
            #expect(first.position == StreamPosition(epoch: 42, offset: 1))
            let log = try await service.log()
            #expect(log.map(\.publisher) == ["anna"])
            #expect(log.map(\.presence.type) == [.presenceEventRemoteJoin])
            #expect(first.frames.map(\.presenceSnapshot.position.model) == [first.position])
            #expect(first.frames.map(\.presenceSnapshot.users).map { $0.map(\.userID) } == [["anna"]])
            let second = try await service.join("bob", session: 2)
            #expect(second.position.offset == 2)
            #expect(second.frames.flatMap { $0.presenceSnapshot.users.map(\.userID) } == ["anna", "bob"])
            #expect(try await service.join("carl", session: 3, snapshot: false).frames.isEmpty)
        }
    }

    @Test("concurrent joins: what each snapshot lacks follows its position, what it has doesn't")
    func concurrentJoins() async throws {
        try await ServiceFixture.with { service in
            let answers = try await withThrowingTaskGroup { group in
                for number in 1...40 {
                    group.addTask { try await service.join("u\(number)", session: UInt64(number)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let log = try await service.log()
            #expect(log.count == 40)
            for answer in answers {
                let before = log.filter { $0.offset <= answer.position.offset }.map(\.publisher)
                let listed = answer.frames.flatMap { $0.presenceSnapshot.users.map(\.userID) }
                #expect(Set(before) == Set(listed))
                #expect(listed == listed.sorted())
            }
        }
    }

    @Test("R-20: however many long answers are asked for at once, they wait for the link, and it stays")
    func longAnswers() async throws {
        try await ServiceFixture.with { service in
            for number in 1...70 {
                let user = "u\(number)"
                _ = try await service.join(user, session: UInt64(number), snapshot: false)
                _ = try await service.call(
                    user, session: UInt64(number),
                    .setState(
                        .with {
                            ($0.channelType, $0.channel) = (.message, "room")
                            $0.items = [
                                .with { ($0.key, $0.value) = ("k", String(repeating: "x", count: 1_000)) }
                            ]
                        }))
            }
            let frame: [UInt8] = try Rtm_Client_ClientFrame.with {
                $0.whoNow = .with {
                    ($0.channelType, $0.channel) = (.message, "room")
                    ($0.includeUserID, $0.includeState) = (true, true)
                }
            }.serializedBytes()
            // Together they are longer than the queue of a link.
            let lengths = try await service.toPresence.lengths(
                of: 700, PresenceMethod.call.number,
                RawCall(caller: .of("u1", session: 1, instance: 1), request: frame))
            #expect(lengths.count == 700 && lengths.allSatisfy { $0 > 60_000 })
            #expect(try await service.toPresence.downCount == 0)
        }
    }

    @Test("a long snapshot comes in several frames, the last of which says so")
    func longSnapshot() async throws {
        try await ServiceFixture.with { service in
            for number in 1...4 {
                _ = try await service.join("u\(number)", session: UInt64(number), snapshot: false)
                let answer = try await service.call(
                    "u\(number)", session: UInt64(number),
                    .setState(
                        .with { call in
                            call.channelType = .message
                            call.channel = "room"
                            call.items = (1...30).map { key in
                                .with {
                                    ($0.key, $0.value) = ("k\(key)", String(repeating: "x", count: 1_000))
                                }
                            }
                        }))
                #expect(answer.body == .done(.init()))
            }
            #expect(try await service.join("v", session: 9).isTooBig)
            let (frames, next) = try await service.roster()
            #expect(next == 0)
            #expect(frames.map(\.more) == [true, false])
            #expect(frames.flatMap { $0.users.map(\.userID) } == ["u1", "u2", "u3", "u4", "v"])
        }
    }

    @Test("without messaging a join is refused at once, and its event comes when messaging is there")
    func messagingComesLate() async throws {
        try await ServiceFixture.with(messagingListens: false) { service in
            for (number, user) in ["anna", "bob"].enumerated() {
                // The error code shows that the call didn't wait for the caller's timeout.
                let refusal = await code { _ = try await service.join(user, session: UInt64(number + 1)) }
                #expect(refusal == .presenceOperationFailed)
            }
            try await service.startMessaging()
            let answer = try await service.join("carl", session: 3)
            #expect(answer.position.epoch == 42)
            #expect(
                answer.frames.flatMap { $0.presenceSnapshot.users.map(\.userID) } == ["anna", "bob", "carl"])
            let log = try await service.log().map(\.publisher)
            #expect(log == ["anna", "bob", "carl"])
        }
    }

    @Test("the snapshot of a roster that was filled silently is behind the events of an earlier life (P-1)")
    func earlierLife() async throws {
        try await ServiceFixture.with(.with { $0.grace = 60_000 }) { service in
            for sequence in 1...3 as ClosedRange<UInt64> { try await service.appendElsewhere(sequence) }
            try await service.sync(["anna"])
            let answer = try await service.join("anna", session: 1)
            #expect(answer.position == StreamPosition(epoch: 42, offset: 3))
            #expect(answer.frames.map(\.presenceSnapshot.position.model) == [answer.position])
            #expect(try await service.log().count == 3)
        }
    }

    @Test("a session that leaves, logs out or is superseded is told by its kind (P-4, S-12, S-22)")
    func pushes() async throws {
        try await ServiceFixture.with { service in
            for (number, user) in ["anna", "bob", "carl"].enumerated() {
                _ = try await service.join(user, session: UInt64(number + 1))
            }
            try await service.toPresence.push(
                PresenceMethod.leave.number,
                LeavePush(channel: .room, caller: .of("anna", session: 1, instance: 1)))
            try await service.toPresence.push(
                PresenceMethod.sessionEnded.number,
                SessionEndedPush(caller: .of("bob", session: 2, instance: 2), end: .loggedOut))
            _ = try await service.join("dora", session: 4)
            let log = try await service.log(after: 3)
            #expect(log.map(\.publisher) == ["anna", "bob", "dora"])
            #expect(
                log.map(\.presence.type) == [
                    .presenceEventRemoteLeave, .presenceEventRemoteLeave, .presenceEventRemoteJoin,
                ])
        }
    }

    @Test("who joins while an edge tells its members is told, too: nobody of them is lost (S-42)")
    func joinDuringSync() async throws {
        try await ServiceFixture.with { service in
            // The edge doesn't report Dora, so she is lost. Her timeout is later than that of the others
            // would be.
            let (soon, later) = (Duration.milliseconds(20), Duration.milliseconds(60))
            _ = try await service.join("dora", session: 1, presenceTimeout: later)
            try await service.sync(["anna"], isLast: false, presenceTimeout: soon)
            _ = try await service.join("bob", session: 1, presenceTimeout: soon)
            try await service.sync(["carl"], isFirst: false, presenceTimeout: soon)
            try await eventually("somebody is timed out") {
                try await service.log().contains { $0.presence.type == .presenceEventRemoteTimeout }
            }
            let timedOut = try await service.log().filter {
                $0.presence.type == .presenceEventRemoteTimeout
            }
            #expect(timedOut.map(\.publisher) == ["dora"])
            #expect(try await service.log().last?.publisher == "dora")
        }
    }

    @Test("a lease that isn't renewed takes its users with it")
    func leaseEnds() async throws {
        try await ServiceFixture.with(.with { $0.leaseTimeToLive = 20 }) { service in
            let answer = try await service.toPresence.request(
                PresenceMethod.lease.number, LeaseRequest(lease: 1))
            #expect(try Rtm_Service_LeaseResponse(serializedBytes: answer).known == false)
            _ = try await service.toPresence.request(
                PresenceMethod.sync.number,
                SyncRequest(
                    lease: 1,
                    memberships: [
                        Membership(
                            channel: .room, caller: .of("anna"), quiet: false,
                            presenceTimeout: .milliseconds(20), ownership: 1)
                    ], isFirst: true, isLast: true))
            try await eventually("anna is timed out") {
                try await service.log().last?.presence.type == .presenceEventRemoteTimeout
            }
            #expect(try await service.log().map(\.publisher) == ["anna", "anna"])
        }
    }

    @Test("an edge comes back over another link: the older one ends, and a late join over it is refused")
    func olderLink() async throws {
        try await ServiceFixture.with { service in
            _ = try await service.join("anna", session: 1)
            try await service.withNewerLink { newer in
                _ = try await newer.request(PresenceMethod.lease.number, LeaseRequest(lease: 1))
                try await eventually("the older link ends") { try await service.toPresence.downCount > 0 }
            }
        }
        try await ServiceFixture.with { service in
            try await service.withNewerLink { newer in
                _ = try await newer.request(PresenceMethod.lease.number, LeaseRequest(lease: 1))
                // The older link has not named the lease before, so it was left alone.
                await #expect(throws: (any Error).self) { try await service.join("ghost", session: 1) }
                try await eventually("the older link ends") { try await service.toPresence.downCount > 0 }
                #expect(try await newer.downCount == 0)
                #expect(try await service.log().isEmpty)
            }
        }
    }

    @Test("a link ends when the store knows of a newer one of its edge, which may lead to another node")
    func olderThanElsewhere() async throws {
        try await ServiceFixture.with { service in
            _ = try await service.toPresence.request(
                PresenceMethod.lease.number, LeaseRequest(lease: 1, link: 5))
            try await service.withNewerLink { late in
                await #expect(throws: (any Error).self) {
                    try await late.request(PresenceMethod.lease.number, LeaseRequest(lease: 1, link: 4))
                }
                try await eventually("the late link ends") { try await late.downCount > 0 }
            }
        }
    }

    // MARK: Calls

    private func whoNow(
        _ service: ServiceFixture, ids: Bool = true, states: Bool = false, page: String = ""
    ) async throws -> Rtm_Client_OnlineUsers {
        try await service.call(
            "x", session: 99,
            .whoNow(
                .with {
                    ($0.channelType, $0.channel) = (.message, "room")
                    ($0.includeUserID, $0.includeState, $0.page) = (ids, states, page)
                })
        ).onlineUsers
    }

    @Test("whoNow: pages of 100, totals, and refusals (L-33, P-31, P-32, P-33, P-34, P-35)")
    func whoNow() async throws {
        try await ServiceFixture.with { service in
            for number in 0..<150 {
                _ = try await service.join("u\(1000 + number)", session: UInt64(number + 1), snapshot: false)
            }
            let first = try await whoNow(service)
            #expect(first.users.count == 100 && first.total == 100)
            #expect(first.users.allSatisfy { $0.items.isEmpty })
            let second = try await whoNow(service, page: first.nextPage)
            #expect(second.total == 50 && second.nextPage.isEmpty)
            #expect((first.users + second.users).map(\.userID) == (0..<150).map { "u\(1000 + $0)" })
            let count = try await whoNow(service, ids: false)
            #expect(count.total == 150 && count.users.isEmpty && count.nextPage.isEmpty)
            #expect(
                await code { _ = try await whoNow(service, ids: false, states: true) }
                    == .presenceInvalidArgument)
            for page in ["x", "1", "1zz", "2" + first.nextPage.dropFirst(), "100"] {
                #expect(await code { _ = try await whoNow(service, page: page) } == .presenceInvalidArgument)
            }
        }
    }

    private func setState(
        _ service: ServiceFixture, _ items: [(String, String)], type: Rtm_Client_ChannelType = .message
    ) async throws {
        _ = try await service.call(
            "anna", session: 1,
            .setState(
                .with { call in
                    (call.channelType, call.channel) = (type, "room")
                    call.items = items.map { item in .with { ($0.key, $0.value) = item } }
                }))
    }

    @Test("setState: what it refuses, with which code (L-14, L-31, P-40)")
    func stateLimits() async throws {
        try await ServiceFixture.with { service in
            let long = String(repeating: "k", count: 33)
            let value = String(repeating: "v", count: 1_025)
            #expect(await code { try await setState(service, [("a", "1")]) } == .presenceUserNotExist)
            _ = try await service.join("anna", session: 1)
            let refused: [([(String, String)], ErrorCode)] = [
                ([], .presenceInvalidArgument), ([("", "1")], .presenceInvalidStateKey),
                ([(long, "1")], .presenceStateKeySizeOverflow),
                ([("a", value)], .presenceStateValueSizeOverflow),
                ([("a", "1"), ("a", "2")], .presenceStateDuplicateKey),
                ((0...32).map { ("k\($0)", "") }, .presenceStateCountOverflow),
            ]
            for (items, expected) in refused {
                #expect(await code { try await setState(service, items) } == expected)
            }
            #expect(
                await code { try await setState(service, [("a", "1")], type: .user) } == .invalidChannelType)
            #expect(try await service.log().count == 1, "nothing of it was told")
            try await setState(service, [(String(long.dropFirst()), String(value.dropFirst()))])
            #expect(try await service.log().last?.presence.states.items.count == 1)
        }
    }

    @Test("R-17: the answer to a change of states says what it costs, other answers cost nothing")
    func cost() async throws {
        try await ServiceFixture.with { service in
            for (number, user) in ["anna", "bob", "carl"].enumerated() {
                _ = try await service.join(user, session: UInt64(number + 1))
            }
            let set = Rtm_Client_ClientFrame.OneOf_Body.setState(
                .with { call in
                    (call.channelType, call.channel) = (.message, "room")
                    call.items = [.with { ($0.key, $0.value) = ("key", "value") }]
                })
            let response = try await service.response("anna", session: 1, set)
            #expect(response.cost == 2 * (16 + 3 + 5 + 8))
            let get = Rtm_Client_ClientFrame.OneOf_Body.getState(
                .with { ($0.channelType, $0.channel, $0.userID) = (.message, "room", "anna") })
            #expect(try await service.response("anna", session: 1, get).cost == 0)
        }
    }

    @Test("getState, removeState and whereNow answer what the store knows (P-36, P-43, P-44)")
    func otherCalls() async throws {
        try await ServiceFixture.with { service in
            _ = try await service.join("anna", session: 1)
            try await setState(service, [("b", "2"), ("a", "1")])
            let get = Rtm_Client_ClientFrame.OneOf_Body.getState(
                .with { ($0.channelType, $0.channel, $0.userID) = (.message, "room", "anna") })
            let state = try await service.call("bob", session: 7, get).userState
            #expect(state.userID == "anna")
            #expect(state.items.map(\.key) == ["a", "b"])
            let removed = try await service.call(
                "anna", session: 1,
                .removeState(.with { ($0.channelType, $0.channel, $0.keys) = (.message, "room", ["a"]) }))
            #expect(removed.body == .done(.init()))
            #expect(try await service.call("bob", session: 7, get).userState.items.map(\.key) == ["b"])
            let channels = try await service.call("bob", session: 7, .whereNow(.with { $0.userID = "anna" }))
            #expect(channels.userChannels.channels.map(\.name) == ["room"])
            #expect(
                await code { _ = try await service.call("bob", session: 7, .whereNow(.init())) }
                    == .invalidUserId)
            #expect(
                await code { _ = try await service.call("bob", session: 7, .logout(.init())) }
                    == .serviceNotSupport)
        }
    }
}
