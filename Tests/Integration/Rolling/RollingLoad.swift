import RTMClient
import RTMTestSupport
import Testing

/// Clients that publish to four channels while the processes below them are replaced.
final class RollingLoad: Sendable {
    private static let channels = ["north", "east", "south", "west"]

    private let clients: [ChaosRTMClient]
    private let published = Shared([DeliveryRecord.Published]())
    private let isOver = Shared(false)
    private let timeline: RollingTimeline?

    /// - Parameter clients: some of each edge.
    init(_ clients: [ChaosRTMClient], _ timeline: RollingTimeline? = nil) async throws {
        self.clients = clients
        self.timeline = timeline
        for client in clients { try await client.start(channels: Self.channels) }
    }

    static var channelNames: [String] { channels }

    /// Publishes until `body` has returned, and then waits until everybody has received what was published
    /// last.
    func run(during body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { self.isOver.withLock { $0 = true } }
                try await body()
            }
            for client in clients { group.addTask { await self.publish(by: client) } }
            try await group.waitForAll()
        }
        try await settle()
    }

    /// Returns when some hundred more messages have been published.
    func flows() async throws {
        let count = published.present.count
        try await eventually("messages flow") { self.published.present.count > count + 200 }
    }

    /// Whether every publish has an outcome, and everybody received what they should, once and in order.
    ///
    /// - Parameter others: what clients of another kind saw.
    func judge(others: [DeliveryRecord.View] = []) {
        let published = published.present
        let record = DeliveryRecord(published: published, views: clients.flatMap(\.views) + others)
        let complaints = clients.flatMap(\.complaints) + record.breaches() + record.needlessGaps()
        for complaint in complaints.prefix(40) { Issue.record("\(complaint)") }
        #expect(!published.contains { $0.outcome == .unknown }, "every publisher knows what has become of it")
        #expect(record.received > record.acknowledged)
    }

    /// The last message of each channel: its text, and who published it.
    var last: [DeliveryRecord.Published] {
        Dictionary(grouping: published.present, by: \.channel).values.compactMap(\.last)
    }

    var count: Int { published.present.count }

    func close() async { for client in clients { await client.close() } }

    /// Publishes one message after the other, so that their order is known.
    private func publish(by client: ChaosRTMClient) async {
        for number in 0... where !isOver.present {
            let channel = Self.channels[number % Self.channels.count]
            let text = "\(client.user) \(number)"
            let start = ContinuousClock.now
            let outcome = await client.publish(text, to: channel)
            timeline?.published(in: ContinuousClock.now - start)
            published.withLock {
                $0.append(.init(text: text, publisher: client.user, channel: channel, outcome: outcome))
            }
            await letPass(.milliseconds(20))
            if isOver.present { return }
        }
    }

    private func settle() async throws {
        for last in last {
            for client in clients where client.user != last.publisher {
                try await eventually("\(client.user) hears '\(last.text)' in \(last.channel)") {
                    client.hasSeen(last.text, in: last.channel)
                }
            }
        }
    }
}
