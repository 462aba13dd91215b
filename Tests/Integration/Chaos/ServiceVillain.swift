import Foundation
import RTMTestSupport
import Synchronization

/// Kills, stops and sets back presence, storage and the Redis behind presence. The lines to them stay whole.
final class ServiceVillain: Sendable {
    struct Deeds: Sendable {
        var kills = 0
        var stops = 0
        var setbacks = 0
    }

    private enum Victim: CaseIterable { case presence, storage, redis }

    private let system: RunningSystem
    private let redis: Mutex<RedisServerProcess>
    private let done = Mutex(Deeds())

    init(_ system: RunningSystem, _ redis: RedisServerProcess) {
        self.system = system
        self.redis = Mutex(redis)
    }

    var deeds: Deeds { done.withLock { $0 } }

    /// Does harm until that time. At the end everything runs.
    func rage(until end: ContinuousClock.Instant, _ random: inout SeededGenerator) async throws {
        while ContinuousClock.now < end {
            await letPass(.milliseconds(Int.random(in: 500...2_500, using: &random)))
            let victim = Victim.allCases.randomElement(using: &random) ?? .redis
            if random.chance(1, in: 2) {
                try await kill(victim, &random)
            } else {
                let left = end - ContinuousClock.now
                let longest = min(20_000, max(1_000, Int(left.components.seconds) * 250))
                try await stop(victim, for: .milliseconds(Int.random(in: 1_000...longest, using: &random)))
            }
        }
    }

    private func kill(_ victim: Victim, _ random: inout SeededGenerator) async throws {
        let pause = Duration.milliseconds(Int.random(in: 0...1_500, using: &random))
        switch victim {
        case .presence:
            try await system.process("rtm-presence").kill9()
            await letPass(pause)
            try await system.launchPresence()
        case .storage:
            try await system.process("rtm-storage").kill9()
            await letPass(pause)
            try await system.launchStorage()
        case .redis:
            return try await killRedis(saving: random.chance(1, in: 2), for: pause)
        }
        done.withLock { $0.kills += 1 }
    }

    /// After the crash Redis has what it had at the last save, or nothing.
    private func killRedis(saving: Bool, for pause: Duration) async throws {
        if saving {
            try redis.withLock { try $0.save() }
            await letPass(pause)
        }
        redis.withLock { $0.end() }
        await letPass(pause)
        try redis.withLock { $0 = try $0.again() }
        try await redis.withLock { $0 }.isListening()
        done.withLock { $0.setbacks += 1 }
    }

    private func stop(_ victim: Victim, for pause: Duration) async throws {
        switch victim {
        case .presence: try await stop(system.process("rtm-presence"), for: pause)
        case .storage: try await stop(system.process("rtm-storage"), for: pause)
        case .redis:
            redis.withLock { $0.pause() }
            await letPass(pause)
            redis.withLock { $0.resume() }
        }
        done.withLock { $0.stops += 1 }
    }

    private func stop(_ process: ServiceProcess, for pause: Duration) async {
        process.signal(SIGSTOP)
        await letPass(pause)
        process.signal(SIGCONT)
    }

    func end() { redis.withLock { $0.remove() } }
}
