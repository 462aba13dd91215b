import RTMClient
import RTMModel
import RTMTestSupport
import Synchronization

/// A user of one channel who shows states, compares and sets metadata, holds a lock, publishes messages that
/// are stored, and leaves and comes back, one after the other. What it did and saw is judged afterwards.
final class ChaosMember: Sendable {
    static let channel = "crowd"
    static let lock = "stage"
    static let counter = MetadataTarget.channel(channel)
    /// No call may take longer: the time for one request, and for its connection before that.
    private static let callMax = Duration.seconds(30)

    /// What all members did, as they saw it.
    struct Observations: Sendable {
        var revisions = RevisionHistory()
        var holds = LockHistory()
        /// The texts that were acknowledged as stored.
        var stored: [String] = []
        /// The texts that may be stored or not.
        var unclear: Set<String> = []
        var complaints: [String] = []
    }

    let user: String
    let client: RTMClient
    private let shared: Shared<Observations>

    init(_ user: String, _ client: RTMClient, _ shared: Shared<Observations>) {
        self.user = user
        self.client = client
        self.shared = shared
    }

    func work(until isOver: () -> Bool, _ random: inout SeededGenerator) async {
        var number = 0
        var known: Int64 = 0
        while !isOver() {
            number += 1
            let text = "\(user) \(number)"
            let begin = ContinuousClock.now
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: _ = try? await client.setState(["mood": text], in: Self.channel)
            case 2: known = await read() ?? known
            case 3, 4: known = await write(text, over: known) ?? known
            case 5: await hold()
            case 6: await publish(text)
            default: await leaveAndReturn()
            }
            let time = ContinuousClock.now - begin
            if time > Self.callMax * 3 {
                shared.withLock { $0.complaints.append("\(text) took \(time)") }
            }
            await letPass(.milliseconds(Int.random(in: 20...150, using: &random)))
        }
    }

    private func read() async -> Int64? {
        let begin = ContinuousClock.now
        guard let set = try? await client.metadata(of: Self.counter) else { return nil }
        let value = set["count"]
        shared.withLock {
            $0.revisions.add(.init(begin: begin, outcome: .saw(set.majorRevision, value: value)))
        }
        return set.majorRevision
    }

    private func write(_ value: String, over compared: Int64) async -> Int64? {
        let begin = ContinuousClock.now
        let outcome: RevisionHistory.Outcome
        do throws(RTMError) {
            outcome = .wrote(
                try await client.updateMetadata(
                    ["count": value], of: Self.counter, options: .init(majorRevision: compared)))
        } catch {
            outcome = error.conflict.map { .saw($0.majorRevision, value: nil) } ?? .unanswered
        }
        shared.withLock {
            $0.revisions.add(.init(begin: begin, outcome: outcome, write: (compared: compared, value: value)))
        }
        switch outcome {
        case .wrote(let revision), .saw(let revision, _): return revision
        case .unanswered: return nil
        }
    }

    private func hold() async {
        let asked = ContinuousClock.now
        guard let token = try? await client.acquireLock(Self.lock, in: Self.channel) else { return }
        let granted = ContinuousClock.now
        await letPass(.milliseconds(20))
        let releasing = ContinuousClock.now
        // Without an answer nobody knows whether the lock is free, and its owner would get it again with the
        // same token (K-4).
        while let refusal = await code(of: { try await client.releaseLock(Self.lock, in: Self.channel) }),
            refusal != .lockNotAcquired
        {}
        shared.withLock {
            $0.holds.add(.init(token: token, asked: asked, granted: granted, releasing: releasing))
        }
    }

    private func publish(_ text: String) async {
        do throws(RTMError) {
            try await client.publish(text, to: .channel(Self.channel), storeInHistory: true)
            shared.withLock { $0.stored.append(text) }
        } catch {
            shared.withLock { _ = $0.unclear.insert(text) }
        }
    }

    private func leaveAndReturn() async {
        _ = try? await client.unsubscribe(from: Self.channel)
        _ = try? await client.subscribe(to: Self.channel)
    }
}
