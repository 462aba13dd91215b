import Foundation
import NIOCore
import RTMModel
import RTMServiceKit
import RTMServiceLink

/// Measures what storage does per second on this machine, with the links, the transactions and the disk of
/// production (`make bench WHAT=storage`). The writes stand beside what SQLite alone makes of the same
/// statements. Arguments choose parts: writes, database, nodes, appends, reads, locks, latency, history.
@main struct StorageBench {
    static func main() async throws {
        let isQuick = ProcessInfo.processInfo.environment["QUICK"] == "1"
        let duration = Duration.seconds(isQuick ? 2 : 8)
        let directory = ProcessInfo.processInfo.environment["DATA"] ?? "/tmp/rtm-storage-bench"
        try? FileManager.default.removeItem(atPath: directory)
        let parts = CommandLine.arguments.dropFirst()
        func isWanted(_ part: String) -> Bool { parts.isEmpty || parts.contains(part) }
        if isWanted("writes") { try await writes(directory, duration) }
        if isWanted("database"), let url = ProcessInfo.processInfo.environment["DATABASE"] {
            try await database(directory, url, duration)
        }
        if isWanted("nodes"), let nodes = ProcessInfo.processInfo.environment["NODES"] {
            try await self.nodes(nodes, duration)
        }
        if isWanted("appends") {
            let messages = isQuick ? 60_000 : 300_000
            try await appends(directory + "/appends", "SQLite", [], messages)
            if let url = ProcessInfo.processInfo.environment["DATABASE"] {
                let database = ["--storage-database", url]
                try await appends(directory + "/database", "PostgreSQL", database, messages)
            }
        }
        if isWanted("reads") { try await reads(directory, duration) }
        if isWanted("locks") { try await locks(directory, duration) }
        if isWanted("latency") { try await latency(directory, duration) }
        if isWanted("history") { try await history(directory, messages: isQuick ? 1_000_000 : 10_000_000) }
        try? FileManager.default.removeItem(atPath: directory)
    }

    static func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Measures compare-and-set writes of 128 bytes. Each caller has a channel of its own.
    private static func writes(_ directory: String, _ duration: Duration) async throws {
        for synchronous in ["full", "normal"] {
            for callers in [1, 16, 256] {
                let (ours, bare) = try await BenchSystem.with(
                    directory + "/\(synchronous)-\(callers)", ["--storage-synchronous", synchronous]
                ) { system in
                    var (ours, bare) = (0.0, 0.0)
                    // The two take turns, so that whatever else the machine does disturbs both.
                    for slice in 0..<slices {
                        bare += try BareLoop.rate(
                            directory + "/bare-\(synchronous)-\(callers)-\(slice)",
                            synchronous: synchronous, group: callers, duration: duration / slices)
                        ours += try await system.rate(duration / slices, callers) { number in
                            CompareAndSet(channel: "c\(number)")
                        }
                    }
                    return (ours / Double(slices), bare / Double(slices))
                }
                report(
                    "CAS writes, synchronous \(synchronous), \(callers) callers: \(Int(ours))/s, bare SQLite "
                        + "\(Int(bare))/s with \(callers) per transaction, ratio \(ratio(ours, bare))")
            }
        }
    }

    /// Measures the same writes over PostgreSQL. The database isn't the bench's own: the channels stay in it.
    private static func database(_ directory: String, _ url: String, _ duration: Duration) async throws {
        for callers in [1, 16, 256] {
            try await BenchSystem.with(directory + "/database", ["--storage-database", url]) { system in
                let rate = try await system.rate(duration, callers) { number in
                    CompareAndSet(channel: "c\(number)")
                }
                report("CAS writes over PostgreSQL, \(callers) callers: \(Int(rate))/s")
            }
        }
    }

    /// Measures the same writes over storage nodes that run already (`nodes.sh`).
    private static func nodes(_ list: String, _ duration: Duration) async throws {
        let nodes = try list.split(separator: ",").map { text in
            let place = try HostPort(text: String(text))
            return ServiceLinkAddress.tcp(host: place.host, port: place.port)
        }
        try await BenchSystem.with(nodes: nodes) { system in
            for callers in [16, 256] {
                let rate = try await system.rate(duration, callers) { CompareAndSet(channel: "c\($0)") }
                report("CAS writes over \(nodes.count) nodes, \(callers) callers: \(Int(rate))/s")
            }
        }
    }

    private static let slices = 8

    private static func ratio(_ ours: Double, _ bare: Double) -> String {
        String(format: "%.2f", ours / bare)
    }

    private static func reads(_ directory: String, _ duration: Duration) async throws {
        try await BenchSystem.with(directory + "/reads", []) { system in
            _ = try await system.rate(.milliseconds(300), 100) { CompareAndSet(channel: "c\($0)") }
            for callers in [1, 16, 256] {
                let rate = try await system.rate(duration, callers) { ReadMetadata(channel: "c\($0 % 100)") }
                report("metadata reads, \(callers) callers: \(Int(rate))/s")
            }
        }
    }

    /// Measures how fast a lock goes through a line of users who release it as soon as they have it.
    private static func locks(_ directory: String, _ duration: Duration) async throws {
        try await BenchSystem.with(directory + "/locks", []) { system in
            try await system.call(LockBenchCall.set)
            let rate = try await system.rate(duration, 16) { LockBenchCall.acquire(user: "u\($0)") }
            report("lock hand-overs, 16 users in line for one lock: \(Int(rate / 2))/s")
        }
    }

    /// Measures the time to a subscriber at messaging, from the acknowledgement and from the call.
    private static func latency(_ directory: String, _ duration: Duration) async throws {
        for callers in [1, 16] {
            try await BenchSystem.with(directory + "/latency-\(callers)", []) { system in
                let (fromCommit, fromCall) = try await system.latency(duration, callers)
                report("event, \(callers) callers, from acknowledgement to subscriber: \(spread(fromCommit))")
                report("event, \(callers) callers, from call to subscriber: \(spread(fromCall))")
            }
        }
        for synchronous in ["full", "normal"] {
            let arguments = ["--storage-synchronous", synchronous]
            try await BenchSystem.with(directory + "/hot-\(synchronous)", arguments) { system in
                let rate = try await system.hotChannel(duration, 256)
                report("events of one channel, synchronous \(synchronous), 256 callers: \(Int(rate))/s")
            }
        }
    }

    private static func spread(_ sorted: [Int64]) -> String {
        "p50 \(microseconds(sorted, 50)) µs, p99 \(microseconds(sorted, 99)) µs"
    }

    private static func microseconds(_ sorted: [Int64], _ percent: Int) -> Int64 {
        sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)] / 1_000
    }

    /// Measures appends of 100 bytes by 256 callers to a history that has messages of each of the last 30
    /// days already. A database must be a new one: the messages stay in it, and aren't kept twice.
    private static func appends(
        _ directory: String, _ engine: String, _ arguments: [String], _ messages: Int
    ) async throws {
        let days = ["--storage-history-retention", "30d"]
        try await BenchSystem.with(directory, arguments + days) { system in
            let day: UInt64 = 86_400_000
            let now = UInt64(Date().timeIntervalSince1970 * 1_000)
            let past = HistoryPart(numbers: 0..<30_000, start: now - 29 * day, step: 29 * day / 30_000)
            _ = try await system.append(past, callers: 256)
            let part = HistoryPart(numbers: 30_000..<30_000 + messages, start: now)
            let rate = try await system.append(part, callers: 256)
            let times = try await system.pageTimes(count: 1_000, of: [past, part])
            report(
                "history appends over \(engine), 256 callers: \(Int(rate))/s; a page of 100 takes "
                    + spread(times))
        }
    }

    /// Measures history with messages of 100 bytes. The time of a page must not grow with the store.
    private static func history(_ directory: String, messages: Int) async throws {
        let place = directory + "/history"
        report("history, \(messages) messages take about \(messages / 5_000) MB in \(place)")
        let arguments = ["--storage-synchronous", "normal", "--storage-history-retention", "permanent"]
        try await BenchSystem.with(place, arguments) { system in
            var parts: [HistoryPart] = []
            for target in [10_000, 100_000, 1_000_000, 10_000_000] where target <= messages {
                let stored = parts.last?.numbers.upperBound ?? 0
                let part = HistoryPart(numbers: stored..<target, start: UInt64(stored + 1))
                let rate = try await system.append(part, callers: 256)
                parts.append(part)
                let times = try await system.pageTimes(count: 2_000, of: parts)
                report(
                    "history, \(target) messages, \(try diskUse(place) >> 20) MB on the disk: appended at "
                        + "\(Int(rate))/s; a page of 100 takes \(spread(times))")
            }
        }
    }

    /// Returns the bytes of all files in a directory.
    private static func diskUse(_ directory: String) throws -> Int {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: directory).reduce(0) { sum, name in
            sum + (try files.attributesOfItem(atPath: directory + "/" + name)[.size] as? Int ?? 0)
        }
    }
}
