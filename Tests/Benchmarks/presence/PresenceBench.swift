import Logging
import NIOCore
import NIOPosix
import RTMModel
import RTMPresenceServer
import RTMRedis
import RTMWire

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Measures what presence costs, in memory and over Redis (`make bench WHAT=presence`): joins in channels of
/// different sizes, churn, pages, sweeps over users that are simply online, memory, and commands to Redis.
///
///     rtm-presence-bench [PATH]    PATH is the unix socket of a redis-server; without it Redis is left out
@main
struct PresenceBench {
    static let rules = PresenceRules(
        announce: AnnounceRules(announceMax: 50, interval: 30_000, debounce: 0),
        states: StateLimits(countMax: 32, keyBytesMax: 32, valueBytesMax: 1_024),
        leaseTimeToLive: 3_600_000, grace: 0, channelsMax: 1_000_000)

    static func main() async throws {
        print("rosters in memory")
        try joins()
        try churn()
        try pages()
        try idleSweeps()
        guard let socket = CommandLine.arguments.dropFirst().first else { return }
        print("rosters in Redis")
        try await RedisBench.run(socket: socket)
    }

    static func entry(_ number: Int, session: UInt64 = 1) -> Entry {
        Entry(
            user: "user-\(number)", session: session, instance: 1, ownership: 1, lease: UInt64(number % 8),
            isQuiet: false, timeout: 300_000)
    }

    static func room(_ number: Int) -> ChannelKey {
        ChannelKey(appID: "0123456789abcdef0123456789abcdef", type: .message, name: "room-\(number)")
    }

    /// Measures the mean cost of the joins of one channel, the growth of its tables included, and the memory
    /// that all of them take.
    private static func joins() throws {
        for size in [1_000, 10_000, 50_000] {
            let before = residentBytes()
            var registry = RosterRegistry(rules, now: 0)
            let all = try time { () throws in
                for number in 0..<size { _ = try registry.enter(entry(number), room(0), now: 1) }
            }
            // At the end of each period the registry announces the changes that it has collected.
            let flush = time { _ = registry.advance(now: 40_000) }
            let memory = max(0, residentBytes() - before) / size
            report("join, mean of \(size) in one channel", all / Double(size), "µs")
            report("  interval event of \(size) joins", flush, "µs")
            print("  memory per online user: \(memory) bytes")
            _ = registry.takeChanges()
        }
    }

    private static func churn() throws {
        var registry = RosterRegistry(rules, now: 0)
        for channel in 0..<1_000 {
            for user in 0..<50 { _ = try registry.enter(entry(user), room(channel), now: 1) }
        }
        _ = registry.takeChanges()
        let rounds = 50_000
        let elapsed = try time { () throws in
            for round in 0..<rounds {
                let channel = room(round % 1_000)
                let user = entry(round % 50)
                let caller = Caller(
                    appID: channel.appID, userID: user.user, session: SessionID(rawValue: 1), instance: 1)
                registry.leave(caller, channel, now: 2)
                _ = try registry.enter(user, channel, now: 2)
                if round % 64 == 0 { _ = registry.takeChanges() }
            }
        }
        report("leave and join, 1,000 channels of 50", elapsed / Double(rounds), "µs")
    }

    private static func pages() throws {
        var registry = RosterRegistry(rules, now: 0)
        for number in 0..<10_000 { _ = try registry.enter(entry(number), room(0), now: 1) }
        guard let roster = registry[room(0)] else { return }
        var count = 0
        let elapsed = time {
            var last: String?
            repeat {
                let page = roster.users(after: last, countMax: 101)
                count += 1
                last = page.count == 101 ? page[99].userID : nil
            } while last != nil
        }
        report("one page of whoNow over 10,000 users (\(count) pages)", elapsed / Double(count), "µs")
        report("snapshot of 10,000 users", time { _ = roster.snapshot().count }, "µs")
    }

    private static func idleSweeps() throws {
        for size in [1_000, 100_000] {
            var registry = RosterRegistry(rules, now: 0)
            for number in 0..<size { _ = try registry.enter(entry(number), room(number / 50), now: 1) }
            _ = registry.takeChanges()
            _ = registry.advance(now: 50_000)
            let elapsed = time { for step in 0..<10_000 { _ = registry.advance(now: UInt64(50_000 + step)) } }
            report("sweep over \(size) idle users", elapsed / 10_000, "µs")
        }
    }

    // MARK: - Measuring

    /// Returns the microseconds of processor time that `body` takes. A busy machine disturbs processor time
    /// least.
    static func time<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) -> Double {
        let start = processorTime
        try body()
        return processorTime - start
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }

    static func report(_ what: String, _ value: Double, _ unit: String) {
        print("  \(what): \((value * 1_000).rounded() / 1_000) \(unit)")
    }

    private static func residentBytes() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
