import RTMClient
import RTMModel
import RTMTestSupport
import Testing

/// Users who compare and set items while the processes below them are replaced, each in a channel of its own.
/// The channels lie in all shards of storage.
final class RollingWrites: Sendable {
    private struct Observations {
        var writes = 0
        var complaints: [String] = []
        /// How long a user was refused, from the call that was refused to the answer of one that wasn't.
        var refusals: [Duration] = []
    }

    private let clients: [RTMClient]
    private let timeline: RollingTimeline?
    private let seen = Shared(Observations())

    init(_ clients: [RTMClient], _ timeline: RollingTimeline? = nil) async throws {
        self.clients = clients
        self.timeline = timeline
        for client in clients { try await client.login() }
    }

    func work(until isOver: @escaping @Sendable () -> Bool) async {
        await withTaskGroup(of: Void.self) { group in
            for client in clients { group.addTask { await self.write(client, until: isOver) } }
        }
    }

    /// Whether each call had an end, and what was acknowledged is there.
    ///
    /// - Parameter hasOthers: whether another storage node serves while one is restarted.
    func judge(hasOthers: Bool) {
        let seen = seen.present
        for complaint in seen.complaints.prefix(20) { Issue.record("\(complaint)") }
        let refusals = seen.refusals.sorted()
        // A machine that is busy with other tests may delay some.
        if hasOthers, !refusals.isEmpty {
            #expect(refusals[refusals.count / 2] < .seconds(1) * timeScale, "\(refusals)")
        }
        #expect(seen.writes > clients.count * 10, "storage was used")
    }

    func close() async { for client in clients { await client.close() } }

    /// Counts an item up, over the revision that is known: nobody else writes there, so a conflict is about a
    /// write of its own that had no answer.
    private func write(_ client: RTMClient, until isOver: () -> Bool) async {
        let item = MetadataTarget.channel("of \(client.configuration.userID)")
        var (known, isUnclear) = (Int64(0), false)
        var refused: ContinuousClock.Instant?
        while !isOver() || isUnclear || refused != nil {
            let begin = ContinuousClock.now
            do throws(RTMError) {
                let revision = try await client.setMetadata(
                    ["count": "\(known + 1)"], of: item,
                    options: known == 0 ? .init() : .init(majorRevision: known))
                if revision != known + 1 && !isUnclear { complain("\(item): \(revision) follows \(known)") }
                (known, isUnclear) = (revision, false)
                seen.withLock { $0.writes += 1 }
                if let start = refused.take() {
                    let time = ContinuousClock.now - start
                    timeline?.wasRefused(for: time)
                    seen.withLock { $0.refusals.append(time) }
                }
            } catch {
                if let conflict = error.conflict {
                    if !isUnclear || conflict.majorRevision != known + 1 {
                        complain("\(item) is at \(conflict.majorRevision), and \(known) was acknowledged")
                    }
                    (known, isUnclear) = (conflict.majorRevision, false)
                } else {
                    isUnclear = true
                    if error.code == .storageNotAvailable { refused = refused ?? begin }
                }
            }
            if ContinuousClock.now - begin > .seconds(10) * timeScale {
                complain("a call took \(ContinuousClock.now - begin)")
            }
            await letPass(.milliseconds(20))
        }
    }

    private func complain(_ sentence: String) { seen.withLock { $0.complaints.append(sentence) } }
}
