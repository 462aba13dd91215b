import Foundation
import RTMClient

/// One run: all clients log in and subscribe, then the clock starts, then all clients leave.
struct BenchRun: Sendable {
    /// Limit: logins at the same time. More of them would only wait in the server's accept queue.
    private static let loginsAtOnce = 32
    /// How long messages that are on their way at the end may take before they count as lost.
    private static let drainTime: Duration = .seconds(10)

    let plan: BenchPlan
    let serverProcesses: [Int32]
    let configuration: RTMClient.Configuration
    let logIn: @Sendable (RTMClient) async throws -> Void
    /// Says to a person how far the run is.
    let notice: @Sendable (String) -> Void

    func run() async throws -> BenchReport {
        let streams = try makeStreams()
        do {
            let clients = streams.flatMap { [$0.publisher] + $0.subscribers }
            notice("\(clients.count) clients log in")
            try await Self.forEach(clients) { try await logIn($0) }
            let report = try await measure(streams)
            await leave(streams)
            return report
        } catch {
            await leave(streams)
            throw error
        }
    }

    /// Makes clients and channels with names that no other run has.
    private func makeStreams() throws -> [BenchStream] {
        Self.raiseFileLimit()
        let run = "bench-" + String(UInt32.random(in: .min ... .max), radix: 36)
        return try (0..<plan.publishers).map { number in
            let subscribers = try (0..<plan.subscribersEach).map { try client("\(run)-s\(number)-\($0)") }
            let publisher = try client("\(run)-p\(number)")
            return BenchStream(
                plan: plan, channel: "\(run)-\(number)", publisher: publisher, subscribers: subscribers)
        }
    }

    private func client(_ userID: String) throws -> RTMClient {
        var configuration = configuration
        configuration.userID = userID
        // What waits for its turn in the client isn't the server's latency.
        configuration.pacesPublishes = false
        return try RTMClient(configuration)
    }

    private func measure(_ streams: [BenchStream]) async throws -> BenchReport {
        // Consumers begin before the subscriptions do, so they can't miss a message.
        let epoch = ContinuousClock.now
        let receivers = streams.flatMap { stream in
            stream.subscribers.enumerated().map { (stream: stream, number: $0, events: $1.events()) }
        }
        try await Self.forEach(receivers) { receiver in
            try await receiver.stream.subscribers[receiver.number]
                .subscribe(to: receiver.stream.channel, features: .message)
        }
        return try await withThrowingTaskGroup(of: BenchReport?.self) { group in
            for receiver in receivers {
                group.addTask {
                    try await receiver.stream.receive(receiver.number, receiver.events, epoch)
                    return nil
                }
            }
            group.addTask { try await send(streams, epoch) }
            defer { group.cancelAll() }
            // A receiver ends only by an error.
            while let outcome = try await group.next() {
                if let report = outcome { return report }
            }
            throw CancellationError()
        }
    }

    private func send(_ streams: [BenchStream], _ epoch: ContinuousClock.Instant) async throws -> BenchReport
    {
        let serverSeconds = try ProcessTime.seconds(of: serverProcesses)
        let start = ContinuousClock.now
        let deadline = start + plan.duration
        notice("they are logged in and subscribed, and messages are sent for \(plan.duration.text)")
        _ = try await race(
            {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for stream in streams {
                        for lane in 0..<plan.window {
                            group.addTask { try await stream.runLane(lane, until: deadline, epoch) }
                        }
                    }
                    try await group.waitForAll()
                }
            },
            { try await Task.sleep(until: deadline + Self.drainTime, clock: .continuous) },
            { try await announceProgress(of: streams, since: start) })
        let elapsed = ContinuousClock.now - start
        let used = try ProcessTime.seconds(of: serverProcesses) - serverSeconds
        return BenchReport(
            plan: plan, total: BenchTotal(streams.map(\.tally)), elapsed: elapsed,
            serverSeconds: serverProcesses.isEmpty ? nil : used,
            cores: ProcessInfo.processInfo.activeProcessorCount)
    }

    /// Says every second how many messages have arrived.
    private func announceProgress(
        of streams: [BenchStream], since start: ContinuousClock.Instant
    ) async throws {
        for second in 1... {
            try await Task.sleep(until: start + .seconds(second), clock: .continuous)
            let total = BenchTotal(streams.map(\.tally))
            notice("\(second) s: \(total.deliveries) deliveries")
        }
    }

    private func leave(_ streams: [BenchStream]) async {
        try? await Self.forEach(streams.flatMap { [$0.publisher] + $0.subscribers }) { await $0.close() }
    }

    /// Does something for every element, some at a time. The first error ends it.
    private static func forEach<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, element) in elements.enumerated() {
                if index >= loginsAtOnce { try await group.next() }
                group.addTask { try await body(element) }
            }
            try await group.waitForAll()
        }
    }

    /// Raises the limit of open files to a socket for each client, where the system allows it. Where it
    /// doesn't, logging in fails with the reason.
    private static func raiseFileLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
    }
}
