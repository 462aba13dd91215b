import Foundation
import RTMClient
import RTMModel
import RTMTestSupport
import Testing

/// The promises of presence and storage on real processes: whatever dies or stands still, and however old the
/// data are with which Redis comes back, everybody knows in the end who is there and with which states. No
/// write is lost or twice, no lock has two owners, and what was stored is in the history once and in order.
///
/// `make chaos` runs it as long as the other one.
@Suite(.serialized) struct ServiceChaosTests {
    private static let count = 8
    private static let presence = ["--debounce", "0s", "--lease-ttl", "3s"]

    @Test("Presence, storage and Redis are killed, stopped and set back under eight users of everything")
    func chaos() async throws {
        let seed = ChaosSettings.seed
        let redis = try RedisServerProcess()
        try await redis.isListening()
        try await RunningSystem.with(
            .fourProcesses, edge: ["--rates-channel-metadata", "0", "--rates-acquire-lock", "0"],
            presence: Self.presence + ["--redis-endpoints", "unix:\(redis.socket)"]
        ) { system in
            let villain = ServiceVillain(system, redis)
            defer { villain.end() }
            let shared = Shared(ChaosMember.Observations())
            let members = try (0..<Self.count).map { number in
                let client = try system.client("user\(number)") { $0.requestTimeout = .seconds(5) }
                return ChaosMember("user\(number)", client, shared)
            }
            let start = try await Self.begin(members)
            try await Self.rage(villain, members, seed)
            try await Self.settle(members, seed)
            try await Self.judge(shared.present, members, from: start, seed)
            ChaosSettings.say(
                "seed \(seed): \(shared.present.revisions.writtenCount) writes, "
                    + "\(shared.present.holds.holdCount) locks, \(shared.present.stored.count) stored, "
                    + "\(villain.deeds)")
            #expect(shared.present.revisions.writtenCount > 0 && shared.present.holds.holdCount > 0)
            for member in members { await member.client.close() }
        }
    }

    /// - Returns: the revision before all writes.
    private static func begin(_ members: [ChaosMember]) async throws -> Int64 {
        for member in members { try await member.client.login() }
        let first = members[0].client
        try await first.setLock(ChaosMember.lock, in: ChaosMember.channel, ttl: .seconds(300))
        let start = try await first.setMetadata(["count": "0"], of: ChaosMember.counter)
        for member in members { try await member.client.subscribe(to: ChaosMember.channel) }
        return start
    }

    private static func rage(_ villain: ServiceVillain, _ members: [ChaosMember], _ seed: UInt64) async throws
    {
        let end = ContinuousClock.now + ChaosSettings.duration
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var random = SeededGenerator(seed: seed)
                try await villain.rage(until: end, &random)
            }
            for (number, member) in members.enumerated() {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ 1 &+ UInt64(number))
                    await member.work(until: end, &random)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Everything runs again: every user is in the channel with a last state, presence names all of them, and
    /// every client's roster says the same. Storage, which may have been started a moment ago, answers.
    private static func settle(_ members: [ChaosMember], _ seed: UInt64) async throws {
        for member in members {
            try await eventually("\(member.user) shows its last state (seed \(seed))", within: .seconds(90)) {
                // Who is in the channel already learns that it is subscribed again.
                _ = try? await member.client.subscribe(to: ChaosMember.channel)
                return (try? await member.client.setState(["mood": "last"], in: ChaosMember.channel)) != nil
            }
        }
        try await eventually("storage answers (seed \(seed))", within: .seconds(60)) {
            (try? await members[0].client.metadata(of: ChaosMember.counter)) != nil
        }
        let everybody = Dictionary(uniqueKeysWithValues: members.map { ($0.user, ["mood": "last"]) })
        for member in members {
            try await eventually("\(member.user) asks who is there (seed \(seed))", within: .seconds(60)) {
                let page = try? await member.client.whoNow(in: ChaosMember.channel, includeState: true)
                return page.map { Dictionary(uniqueKeysWithValues: $0.users.map { ($0.userID, $0.states) }) }
                    == everybody
            }
            let roster = Shared<[String: [String: String]]>([:])
            let watching = Task {
                for await update in member.client.roster(of: ChaosMember.channel) {
                    roster.withLock { $0 = update.members }
                }
            }
            defer { watching.cancel() }
            try await eventually("\(member.user) sees who is there (seed \(seed))", within: .seconds(60)) {
                roster.present == everybody
            }
        }
    }

    private static func judge(
        _ seen: ChaosMember.Observations, _ members: [ChaosMember], from start: Int64, _ seed: UInt64
    ) async throws {
        let client = members[0].client
        let last = try await client.metadata(of: ChaosMember.counter).majorRevision
        let complaints =
            seen.complaints + seen.revisions.violations(from: (revision: start, value: "0"), to: last)
            + seen.holds.violations + (try await historyComplaints(seen, client))
        for complaint in complaints.prefix(40) { Issue.record("seed \(seed): \(complaint)") }
        #expect(complaints.count == 0, "seed \(seed)")
    }

    private static func historyComplaints(
        _ seen: ChaosMember.Observations, _ client: RTMClient
    ) async throws -> [String] {
        var texts: [String] = []
        for try await message in client.historyMessages(of: .channel(ChaosMember.channel)) {
            if case .text(let text) = message.payload { texts.append(text) }
        }
        let counts = Dictionary(texts.map { ($0, 1) }, uniquingKeysWith: +)
        let twice = counts.filter { $0.value > 1 }.map { "'\($0.key)' is in the history twice" }
        let missing = seen.stored.filter { counts[$0] == nil }.map { "'\($0)' was stored, and is gone" }
        let foreign = Set(texts).subtracting(seen.stored).subtracting(seen.unclear)
        return twice + missing + foreign.map { "'\($0)' is in the history, and nobody published it" }
            + disorder(texts.reversed())
    }

    /// Every user publishes one message after the other, so that the history has them in that order.
    private static func disorder(_ texts: [String]) -> [String] {
        var last: [Substring: Int] = [:]
        var found: [String] = []
        for text in texts {
            let parts = text.split(separator: " ")
            guard parts.count == 2, let number = Int(parts[1]) else { continue }
            if let earlier = last[parts[0]], number < earlier {
                found.append("'\(text)' came after \(earlier)")
            }
            last[parts[0]] = number
        }
        return found
    }
}
