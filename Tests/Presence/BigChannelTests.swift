import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import SwiftProtobuf
import Testing

@testable import RTMPresenceServer

/// Snapshots that don't fit into the answer to a join.
@Suite("Channels with very many users")
struct BigChannelTests {
    /// Members that an edge reports when it finds the node.
    private func fill(_ service: ServiceFixture, _ users: [String]) async throws {
        let batch = 5_000
        for start in stride(from: 0, to: users.count, by: batch) {
            try await service.sync(
                Array(users[start..<min(start + batch, users.count)]), isFirst: start == 0,
                isLast: start + batch >= users.count, presenceTimeout: .seconds(300))
        }
    }

    @Test(
        "P-27, L-30: a hundred who come at once into a channel of 50,000 get a whole snapshot, the link holds"
    )
    func crowd() async throws {
        try await ServiceFixture.with(.with { $0.grace = 60_000 }) { service in
            let users = (0..<50_000).map { "a user with some name \(100_000 + $0)" }
            try await fill(service, users)
            // One snapshot has more than a mebibyte, and all of them together more than may wait on a link.
            let answers = try await withThrowingTaskGroup { group in
                for number in 1...100 {
                    group.addTask {
                        try await service.join(
                            "v\(100 + number)", session: UInt64(number), timeout: .seconds(30))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.isTooBig && $0.frames.isEmpty })
            var (frames, next) = try await service.roster()
            #expect(next != 0 && frames.allSatisfy(\.more))
            // A user who comes while the parts are sent is in the next snapshot.
            _ = try await service.join("w", session: 999, timeout: .seconds(30))
            while next != 0 {
                let part = try await service.roster(next)
                frames += part.frames
                next = part.next
            }
            #expect(frames.flatMap { $0.users.map(\.userID) } == users + (101...200).map { "v\($0)" })
            #expect(frames.map(\.more) == frames.dropLast().map { _ in true } + [false])
            #expect(Set(frames.map(\.position)).count == 1, "of one moment")
        }
    }

    @Test("a small channel's snapshot comes with the join, unless too much waits for the edge")
    func small() async throws {
        try await ServiceFixture.with(StoreHarness.rules, .with { $0.joinUsersMax = 3 }) { service in
            for (number, user) in ["anna", "bob", "carl"].enumerated() {
                let answer = try await service.join(user, session: UInt64(number + 1))
                #expect(answer.frames.count == 1 && !answer.isTooBig)
            }
            #expect(try await service.join("dora", session: 4).isTooBig)
            #expect(try await service.join("dora", session: 4, snapshot: false).isTooBig == false)
            let (frames, next) = try await service.roster()
            #expect(frames.map { $0.users.map(\.userID) } == [["anna", "bob", "carl", "dora"]] && next == 0)
            #expect(frames.first?.position.model == StreamPosition(epoch: 42, offset: 4))
        }
        try await ServiceFixture.with(StoreHarness.rules, .with { $0.joinBytesMax = 10 }) { service in
            let first = try await service.join("anna", session: 1)
            let second = try await service.join("bob", session: 2)
            #expect([first, second].map(\.isTooBig) == [false, true])
        }
        try await ServiceFixture.with(StoreHarness.rules, .with { $0.joinQueueMax = 0 }) { service in
            let answer = try await service.join("anna", session: 1)
            #expect(answer.isTooBig && answer.frames.isEmpty)
        }
    }

    @Test("a snapshot beyond the limits is refused: of too many bytes, or one more than are under way")
    func limits() async throws {
        let limits = SnapshotLimits.with { ($0.partBytesMax, $0.heldMax) = (1, 1) }
        try await ServiceFixture.with(StoreHarness.rules, limits) { service in
            // Two frames, and so two parts.
            try await fill(service, (0..<3_000).map { "a user with some name \(100_000 + $0)" })
            let next = try await service.roster().next
            #expect(next != 0)
            #expect(await code { _ = try await service.roster() } == .presenceOperationFailed)
            #expect(try await service.roster(next).next == 0)
            #expect(await code { _ = try await service.roster(next) } == .presenceOperationFailed)
            #expect(try await service.roster().next != 0)
        }
        try await ServiceFixture.with(StoreHarness.rules, .with { $0.bytesMax = 10 }) { service in
            try await fill(service, ["anna"])
            #expect(try await service.roster().frames.count == 1)
            try await fill(service, ["anna", "bob"])
            #expect(await code { _ = try await service.roster() } == .presenceOperationFailed)
        }
    }

    @Test("what an edge doesn't ask for is forgotten, with its link or after half a minute")
    func held() {
        var held = HeldSnapshots()
        let text = SnapshotText(users: [], channel: .room, position: StreamPosition(epoch: 1, offset: 0))
        let numbers = [UInt64(7), 8, 7].map {
            held.hold(.init(text: text, start: 1), of: $0, until: $0 * 1_000)
        }
        #expect(held.take(numbers[0], of: 8) == nil, "of another link")
        #expect(held.take(numbers[0], of: 7)?.start == 1)
        #expect(held.take(numbers[0], of: 7) == nil)
        held.forget(of: 7)
        #expect(held.count == 1)
        held.forgetOld(now: 7_999)
        #expect(held.count == 1)
        held.forgetOld(now: 8_000)
        #expect(held.count == 0)
    }
}

extension SnapshotLimits {
    static func with(_ change: (inout SnapshotLimits) -> Void) -> SnapshotLimits {
        var limits = SnapshotLimits()
        change(&limits)
        return limits
    }
}
