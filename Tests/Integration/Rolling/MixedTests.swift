import Foundation
import RTMClient
import RTMTestSupport
import Testing

/// Programs of two versions beside each other, as while an upgrade is under way, and on the way back
/// (docs/operations/upgrade.md).
///
/// `make test-mixed` builds an earlier commit and names the folder of its programs in `EARLIER`. First every
/// process is of that commit. Messaging, presence, storage and the edges are replaced by those of today, one
/// after the other and in this order, and then by the earlier ones again. So each service has called, and was
/// called by, both versions of every other one, and the two nodes of a kind were of two versions.
@Suite(.serialized) struct MixedTests {
    private static let earlier = ProcessInfo.processInfo.environment["EARLIER"].map {
        URL(fileURLWithPath: $0)
    }

    @Test(
        "Two versions run beside each other under load: nothing is lost, doubled or disordered, every call ends",
        .enabled(
            if: Self.earlier != nil,
            "EARLIER names no programs of another commit; `make test-mixed` builds some"),
        .ends(withinMinutes: 10))
    func mixed() async throws {
        let earlier = try #require(Self.earlier)
        let redis = try RedisServerProcess()
        defer { redis.end() }
        try await redis.isListening()
        let overRedis = ["--redis-endpoints", "unix:\(redis.socket)"]
        let edge = ["--rates-channel-metadata", "0", "--rates-acquire-lock", "0"]
        try await RunningSystem.with(
            .fourProcesses, edge: edge, presence: overRedis + ["--debounce", "0s"],
            messaging: overRedis + ["--shards", "4"], messagingNodes: 2, programs: earlier
        ) { system in
            let installation = try await RollingInstallation.start(in: system, edge: edge)
            try await system.isShared(4)
            try await system.ready()
            let listener = try EarlierListener(of: earlier, to: RollingLoad.channelNames, in: system)
            try await listener.isThere()
            let load = try await RollingLoad(installation.clients(8))
            let crowd = try await ChaosCrowd(
                (0..<4).map { number in
                    try system.client("member\(number)") { $0.requestTimeout = .seconds(5) }
                }, seed: 1)
            let isOver = Shared(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await crowd.work { isOver.present } }
                group.addTask {
                    defer { isOver.withLock { $0 = true } }
                    try await load.run {
                        for programs in [ServiceProcess.executables, earlier] {
                            system.use(programs)
                            try await installation.restartAll { try await load.flows() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await crowd.settle()
            try await crowd.judge()
            try await listener.receives(load.last)
            load.judge(others: listener.views)
            await load.close()
            await crowd.close()
        }
    }
}

/// `rtm subscribe` of the earlier version: the clients of an installation are seldom as new as its servers.
private final class EarlierListener: Sendable {
    private static let user = "earlier"
    private let lines = Shared(Data())
    private let channels: [String]
    private let process = ChildProcess()

    init(of programs: URL, to channels: [String], in system: RunningSystem) throws {
        self.channels = channels
        process.executableURL = programs.appending(path: "rtm")
        process.arguments = ["subscribe"] + channels + ["--json", "--user", Self.user]
        process.environment = ["PATH": "/usr/bin:/bin", "RTM_SERVER": system.address("edge")]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        output.fileHandleForReading.readabilityHandler = { [lines] handle in
            let fresh = handle.availableData
            lines.withLock { $0.append(fresh) }
        }
        process.standardOutput = output
        try process.run()
    }

    deinit { process.terminate() }

    func isThere() async throws {
        try await eventually("the earlier rtm has subscribed") { has("\"subscribed\"") }
    }

    /// Waits for these messages.
    func receives(_ messages: [DeliveryRecord.Published]) async throws {
        for message in messages {
            try await eventually("the earlier rtm hears '\(message.text)' in \(message.channel)") {
                has("\"\(message.text)\"")
            }
        }
    }

    private func has(_ text: String) -> Bool { lines.present.range(of: Data(text.utf8)) != nil }

    var views: [DeliveryRecord.View] {
        var sightings = Dictionary(uniqueKeysWithValues: channels.map { ($0, [DeliveryRecord.Sighting]()) })
        for line in lines.present.split(separator: 0x0A) {
            guard let event = try? JSONDecoder().decode(Event.self, from: line),
                let channel = event.channelName
            else { continue }
            if event.event == "gap" { sightings[channel]?.append(.gap) }
            guard let text = event.message, let publisher = event.publisher, let time = event.timestamp
            else { continue }
            sightings[channel]?.append(.message(text: text, publisher: publisher, timestamp: time))
        }
        return sightings.map { .init(viewer: Self.user, channel: $0.key, sightings: $0.value) }
    }

    private struct Event: Decodable {
        let event: String?
        let channelName: String?
        let message: String?
        let publisher: String?
        let timestamp: UInt64?
    }
}
