import RTMClient
import RTMModel
import RTMTestSupport
import Testing

/// Users of everything in one channel, and the judgement of what they did and saw.
struct ChaosCrowd: Sendable {
    private let members: [ChaosMember]
    private let shared: Shared<ChaosMember.Observations>
    private let seed: UInt64
    /// The revision before all writes.
    private let start: Int64

    /// Logs the users in, and makes what they use.
    init(_ clients: [RTMClient], seed: UInt64) async throws {
        let shared = Shared(ChaosMember.Observations())
        members = clients.map { ChaosMember($0.configuration.userID, $0, shared) }
        self.shared = shared
        self.seed = seed
        for client in clients { try await client.login() }
        try await clients[0].setLock(ChaosMember.lock, in: ChaosMember.channel, ttl: .seconds(300))
        start = try await clients[0].setMetadata(["count": "0"], of: ChaosMember.counter)
        for client in clients { try await client.subscribe(to: ChaosMember.channel) }
    }

    var summary: String {
        let seen = shared.present
        return "\(seen.revisions.writtenCount) writes, \(seen.holds.holdCount) locks, "
            + "\(seen.stored.count) stored"
    }

    func work(until isOver: @escaping @Sendable () -> Bool) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, member) in members.enumerated() {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ 1 &+ UInt64(number))
                    await member.work(until: isOver, &random)
                }
            }
        }
    }

    func close() async { for member in members { await member.client.close() } }

    /// Everything runs again: every user is in the channel with a last state, presence names all of them, and
    /// every client's roster says the same. Storage, which may have been started a moment ago, answers.
    func settle() async throws {
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
                let page = try? await member.client.whoNow(in: ChaosMember.channel, includingStates: true)
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
            do {
                let what = "\(member.user) sees who is there (seed \(seed))"
                try await eventually(what, within: .seconds(60)) { roster.present == everybody }
            } catch {
                Issue.record("\(member.user) sees \(roster.present)")
                throw error
            }
        }
    }

    /// Whether everything that was answered fits one order, and nothing that was stored is lost or twice.
    func judge() async throws {
        let seen = shared.present
        let client = members[0].client
        let last = try await client.metadata(of: ChaosMember.counter).majorRevision
        let complaints =
            seen.complaints + seen.revisions.violations(from: (revision: start, value: "0"), to: last)
            + seen.holds.violations + (try await historyComplaints(seen, client))
        for complaint in complaints.prefix(40) { Issue.record("seed \(seed): \(complaint)") }
        #expect(complaints.count == 0, "seed \(seed)")
        #expect(seen.revisions.writtenCount > 0 && seen.holds.holdCount > 0)
    }

    private func historyComplaints(
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
            + Self.disorder(texts.reversed())
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
