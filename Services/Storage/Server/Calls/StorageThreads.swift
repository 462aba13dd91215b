import Dispatch
import Foundation
import RTMModel
import RTMServiceKit

/// The threads that wait for the disk, so that no event loop has to: one that writes, and some that read
/// beside it.
package final class StorageThreads: Sendable {
    /// Limit: writes of one group, so that an answer doesn't wait for thousands of others.
    private static let groupMax = 1_024
    /// Limit: reads that share one snapshot.
    private static let readsMax = 64

    package struct Stores: Sendable {
        let openWriter: @Sendable () throws(StoreFailure) -> any WritableStore
        let openReader: @Sendable () throws(StoreFailure) -> any ReadableStore
        /// Whether this node wants the store; nil where no other node can have it.
        var claim: ShardClaim?

        package init(
            openWriter: @escaping @Sendable () throws(StoreFailure) -> any WritableStore,
            openReader: @escaping @Sendable () throws(StoreFailure) -> any ReadableStore,
            claim: ShardClaim? = nil
        ) {
            (self.openWriter, self.openReader, self.claim) = (openWriter, openReader, claim)
        }
    }

    let queues: StorageQueues
    private let stores: Stores
    private let readers: Int
    private let rules: StorageRules
    private let metrics: StorageMetrics
    private let ended = DispatchGroup()
    private let readersEnded = DispatchGroup()

    init(_ stores: Stores, readers: Int, queueMax: Int, rules: StorageRules, metrics: StorageMetrics) {
        self.stores = stores
        self.readers = readers
        self.rules = rules
        self.metrics = metrics
        queues = StorageQueues(countMax: queueMax, readers: readers)
    }

    /// Receives what the threads report, on the threads themselves.
    struct Listener: Sendable {
        let written: @Sendable (WriteOutcome) -> Void
        let read: @Sendable ([ReadOutcome]) -> Void
        /// The store's failure, or nil when everything is well.
        let health: @Sendable (StoreFailure?) -> Void
    }

    /// Opens the store and returns. The writer comes first, because it creates the file.
    func start(_ listener: Listener) async throws {
        try await thread("storage writer") { started throws(StoreFailure) in
            try self.write(listener, started)
        }
        for _ in 0..<readers {
            readersEnded.enter()
            try await thread("storage reader") { started throws(StoreFailure) in
                defer { self.readersEnded.leave() }
                try self.read(listener, started)
            }
        }
    }

    /// What apps publish in the database is judged by these rules from now on.
    func publish(_ rules: InboxRules) {
        _ = queues.writes.put(StorageWrite(rules), mayOverfill: true)
    }

    /// Finishes the queued work and closes the store.
    func stop() async {
        queues.writes.close()
        queues.reads.close()
        await withCheckedContinuation { done in
            ended.notify(queue: .global()) { done.resume() }
        }
    }

    private func thread(
        _ name: String, _ body: @escaping @Sendable (_ started: () -> Void) throws(StoreFailure) -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { (start: CheckedContinuation<Void, any Error>) in
            ended.enter()
            let thread = Thread { [ended] in
                do throws(StoreFailure) {
                    try body { start.resume() }
                } catch {
                    // Only opening throws, and that happens before the start.
                    start.resume(throwing: ServiceFailure.unavailable("the database", error.sentence))
                }
                ended.leave()
            }
            thread.name = name
            thread.start()
        }
    }

    // MARK: Writing

    private func write(_ listener: Listener, _ started: () -> Void) throws(StoreFailure) {
        try write(to: stores.openWriter(), listener, started)
    }

    private func write<Store: WritableStore>(
        to store: Store, _ listener: Listener, _ started: () -> Void
    ) throws(StoreFailure) {
        var writer: StorageWriter<Store>
        do throws(StoreFailure) {
            writer = try StorageWriter(store, rules: rules, now: .present)
        } catch {
            store.close()
            throw error
        }
        started()
        if let claim = stores.claim {
            claim.onChange { [queues] in queues.writes.interrupt() }
            // It may have changed before.
            queues.writes.interrupt()
        }
        var health = StoreHealth()
        listener.health(health.failure)
        func report(_ outcome: WriteOutcome) {
            if let failure = outcome.failure, health.failed(failure, .present) {
                listener.health(health.failure)
            }
            listener.written(outcome)
        }
        while let group = queues.writes.take(countMax: Self.groupMax, until: Self.wake(writer, health)) {
            let now = StorageNow.present
            let step = writer.nextStep(isWanted: stores.claim?.isWanted ?? true, now: now)
            if step == .release {
                metrics.lockChannels.set(0, of: self)
                metrics.inboxLag.set(0, of: self)
                report(writer.release(group))
                continue
            }
            if step == .ask || health.isProofDue(now) {
                let failure = writer.prove(now: now)
                if health.proven(failure, .present) { listener.health(health.failure) }
            }
            if !group.isEmpty || writer.isDue(.present) {
                let begin = ContinuousClock.now
                let outcome = writer.run(group, now: .present)
                metrics.groupSize.observe(group.count)
                metrics.groupTime.observe(ContinuousClock.now - begin)
                metrics.lockChannels.set(writer.busyLockChannels, of: self)
                report(outcome)
            }
            guard let deadline = writer.inboxDeadline else {
                metrics.inboxLag.set(0, of: self)
                continue
            }
            if health.failure == nil, deadline <= StorageNow.present.steady {
                let outcome = writer.drainInbox(now: .present) { .present }
                if !outcome.hasNothing { report(outcome) }
            }
            metrics.inboxLag.set(Int(writer.inboxLag(.present) / 1_000), of: self)
        }
        // The last connection that closes moves the log into the database and removes it. A reader can't do
        // that, because it may not write.
        readersEnded.wait()
        writer.close()
    }

    private static func wake(_ writer: StorageWriter<some WritableStore>, _ health: StoreHealth)
        -> DispatchTime
    {
        [
            writer.nextDeadline, writer.tenure.deadline, health.proofDeadline,
            health.failure == nil ? writer.inboxDeadline : nil,
        ]
        .compactMap(\.self).min()
        .map { DispatchTime(uptimeNanoseconds: $0 * 1_000_000) } ?? .distantFuture
    }

    // MARK: Reading

    private func read(_ listener: Listener, _ started: () -> Void) throws(StoreFailure) {
        let store = try stores.openReader()
        started()
        while let group = queues.reads.take(countMax: Self.readsMax, until: .distantFuture) {
            let outcomes = store.run(group, now: WallClock.milliseconds())
            metrics.reads.increment(by: outcomes.count)
            listener.read(outcomes)
        }
        store.close()
    }
}

/// What waits for the store.
struct StorageQueues: Sendable {
    let writes: WorkQueue<StorageWrite>
    let reads: WorkQueue<StorageRead>

    /// - Parameter notify: called when there is work again.
    init(countMax: Int, readers: Int, notify: (@Sendable () -> Void)? = nil) {
        writes = WorkQueue(countMax: countMax, notify: notify)
        reads = WorkQueue(countMax: countMax, threads: readers, notify: notify)
    }
}

extension StorageNow {
    static var present: StorageNow {
        StorageNow(
            wall: WallClock.milliseconds(), steady: DispatchTime.now().uptimeNanoseconds / 1_000_000)
    }
}
