import Foundation
import RTMClient
import Synchronization

/// One run of `rtm verify`: the clients do what apps do, and everything that they do and see is written down.
final class VerifyRun: Sendable {
    struct Plan: Sendable {
        var clients = 4
        var channels = 3
        var duration = Duration.seconds(10)
        /// How soon others have to know that a user has come or left.
        var presenceBound = Duration.seconds(10)
    }

    /// How long messages that are on their way at the end may take before they count as lost.
    private static let drainTime = Duration.seconds(10)
    /// Limit: how long a call is made again before the run or after it.
    private static let callTimeMax = Duration.seconds(30)
    private static let lock = "verify"
    private static let counter = "counter"

    let plan: Plan
    private let name = "verify-" + String(UInt32.random(in: .min ... .max), radix: 36)
    private let makeClient: @Sendable (_ user: String) async throws -> RTMClient
    private let book = Mutex<[(time: Duration, event: VerifyEvent)]>([])
    private let begin = ContinuousClock.now
    private let lastMessage = Mutex(0)

    /// - Parameter makeClient: makes a client of this user, which is logged in.
    init(_ plan: Plan, makeClient: @escaping @Sendable (_ user: String) async throws -> RTMClient) {
        self.plan = plan
        self.makeClient = makeClient
    }

    /// What was done and seen so far, in the order in which it was written down.
    var history: [(time: Duration, event: VerifyEvent)] { book.withLock { $0 } }

    private func note(_ event: VerifyEvent) {
        book.withLock { $0.append((ContinuousClock.now - begin, event)) }
    }

    private func channel(_ number: Int) -> String { "\(name)-\(number)" }

    /// - Returns: what is wrong.
    func run() async throws -> VerifyCheck {
        var clients: [RTMClient] = []
        do {
            for number in 0..<plan.clients { clients.append(try await makeClient("\(name)-user-\(number)")) }
            let newcomer = try await makeClient("\(name)-newcomer")
            clients.append(newcomer)
            try await exercise(Array(clients.dropLast()), newcomer)
        } catch {
            for client in clients { await client.close() }
            throw error
        }
        for client in clients { await client.close() }
        return VerifyCheck(clients: plan.clients, history.map(\.event))
    }

    private func exercise(_ clients: [RTMClient], _ newcomer: RTMClient) async throws {
        let events = clients.map { $0.events() }
        for client in clients {
            for number in 0..<plan.channels {
                try await insisting { () async throws(RTMError) in
                    _ = try await client.subscribe(to: self.channel(number), features: .message)
                }
            }
        }
        try await prepare(clients[0])
        let deadline = ContinuousClock.now + plan.duration
        try await withThrowingTaskGroup(of: Void.self) { readers in
            for (number, events) in events.enumerated() {
                readers.addTask { await self.receive(number, events) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, client) in clients.enumerated() {
                    group.addTask { try await self.publish(number, client, until: deadline) }
                    group.addTask { try await self.count(number, client, until: deadline) }
                    group.addTask { try await self.own(number, client, until: deadline) }
                }
                group.addTask { try await self.comeAndGo(newcomer, before: clients[0], until: deadline) }
                try await group.waitForAll()
            }
            await drain()
            readers.cancelAll()
        }
        try await cleanUp(clients[0])
    }

    private func prepare(_ client: RTMClient) async throws {
        let place = channel(0)
        try await insisting { () async throws(RTMError) in
            try await client.setMetadata([Self.counter: "0"], of: .channel(place))
        }
        try await insisting(until: .lockAlreadyExist) { () async throws(RTMError) in
            try await client.setLock(Self.lock, in: place)
        }
    }

    /// Reads the counter a last time, and leaves nothing behind.
    private func cleanUp(_ client: RTMClient) async throws {
        let place = channel(0)
        try await insisting { () async throws(RTMError) in
            let set = try await client.metadata(of: .channel(place))
            self.note(.counted(Int(set[Self.counter] ?? "") ?? -1))
        }
        try await insisting { () async throws(RTMError) in
            try await client.removeAllMetadata(of: .channel(place))
        }
        try await insisting(until: .lockNotExist) { () async throws(RTMError) in
            try await client.removeLock(Self.lock, in: place)
        }
    }

    /// Makes a call that may be made again, until it succeeds: servers may be killed meanwhile.
    ///
    /// - Parameter success: an error that says that an earlier call has succeeded.
    private func insisting(
        until success: ErrorCode? = nil, _ call: () async throws(RTMError) -> Void
    ) async throws {
        let deadline = ContinuousClock.now + Self.callTimeMax
        while true {
            do throws(RTMError) {
                return try await call()
            } catch {
                if error.code == success { return }
                guard ContinuousClock.now < deadline else { throw error }
                try await Task.sleep(for: error.retryAfter ?? .milliseconds(200))
            }
        }
    }

    // MARK: Messages

    private func publish(_ number: Int, _ client: RTMClient, until deadline: ContinuousClock.Instant)
        async throws
    {
        while ContinuousClock.now < deadline {
            let message = lastMessage.withLock { last in
                last += 1
                return last
            }
            let channel = Int.random(in: 0..<plan.channels)
            let outcome: VerifyEvent.Outcome
            do throws(RTMError) {
                try await client.publish("\(message)", to: .channel(self.channel(channel)))
                outcome = .done
            } catch {
                outcome = error.retryAfter == nil ? .unknown : .refused
                try await Task.sleep(for: error.retryAfter ?? .milliseconds(100))
            }
            note(.published(client: number, channel: channel, message: message, outcome))
        }
    }

    private func receive(_ number: Int, _ events: RTMEvents) async {
        let channels = Dictionary(uniqueKeysWithValues: (0..<plan.channels).map { (channel($0), $0) })
        for await event in events {
            switch event {
            case .message(let event):
                guard let channel = channels[event.channelName], case .text(let text) = event.payload,
                    let message = Int(text)
                else { continue }
                note(.received(client: number, channel: channel, message: message, offset: event.offset))
            case .gap(let gap):
                if let channel = channels[gap.channelName] { note(.gap(client: number, channel: channel)) }
            default: break
            }
        }
    }

    /// Waits until nothing is missing any more, or for as long as that may take.
    private func drain() async {
        let deadline = ContinuousClock.now + Self.drainTime
        while ContinuousClock.now < deadline {
            let check = VerifyCheck(clients: plan.clients, history.map(\.event))
            guard check.violations.contains(where: { if case .lost = $0 { true } else { false } }) else {
                return
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    // MARK: Compare-and-set

    private func count(_ number: Int, _ client: RTMClient, until deadline: ContinuousClock.Instant)
        async throws
    {
        let target = MetadataTarget.channel(channel(0))
        while ContinuousClock.now < deadline {
            do throws(RTMError) {
                let set = try await client.metadata(of: target)
                guard let item = set.item(for: Self.counter), let value = Int(item.value) else { continue }
                let outcome = await compare(item.revision, value + 1, client, target)
                note(.compared(client: number, revision: item.revision, outcome.0))
                try? await Task.sleep(for: outcome.pause)
            } catch {
                try await Task.sleep(for: error.retryAfter ?? .milliseconds(200))
            }
        }
    }

    private func compare(
        _ revision: Int64, _ value: Int, _ client: RTMClient, _ target: MetadataTarget
    ) async -> (VerifyEvent.Outcome, pause: Duration) {
        do throws(RTMError) {
            try await client.setMetadata(
                [MetadataChange(Self.counter, "\(value)", revision: revision)], of: target)
            return (.done, .milliseconds(100))
        } catch {
            let isRefused = error.code == .storageOutdatedRevision || error.retryAfter != nil
            return (isRefused ? .refused : .unknown, error.retryAfter ?? .milliseconds(100))
        }
    }

    // MARK: The lock

    private func own(_ number: Int, _ client: RTMClient, until deadline: ContinuousClock.Instant) async throws
    {
        while ContinuousClock.now < deadline {
            do throws(RTMError) {
                let token = try await client.acquireLock(Self.lock, in: channel(0), waits: true)
                note(.acquired(client: number, fencingToken: token))
                try? await Task.sleep(for: .milliseconds(50))
                note(.released(client: number, fencingToken: token))
                try await client.releaseLock(Self.lock, in: channel(0))
                try? await Task.sleep(for: .milliseconds(150))
            } catch {
                try await Task.sleep(for: error.retryAfter ?? .milliseconds(200))
            }
        }
    }

    // MARK: Presence

    /// A user enters a channel and leaves it, and each time it is measured when another one learns of it.
    private func comeAndGo(
        _ newcomer: RTMClient, before watcher: RTMClient, until deadline: ContinuousClock.Instant
    ) async throws {
        let place = "\(name)-presence"
        let events = watcher.events()
        try await insisting { () async throws(RTMError) in
            _ = try await watcher.subscribe(to: place, features: .presence)
        }
        repeat {
            for isEntry in [true, false] {
                let start = ContinuousClock.now
                try await insisting { () async throws(RTMError) in
                    if isEntry {
                        _ = try await newcomer.subscribe(to: place, features: .presence)
                    } else {
                        try await newcomer.unsubscribe(from: place)
                    }
                }
                let isAnnounced = try await race(
                    {
                        for await case .presence(let event) in events
                        where event.channelName == place && event.change.announces(newcomer, isEntry) {
                            return true
                        }
                        return false
                    },
                    { [bound = plan.presenceBound] in
                        try await Task.sleep(for: bound)
                        return false
                    })
                note(.announced(isEntry: isEntry, after: isAnnounced == true ? .now - start : nil))
            }
        } while ContinuousClock.now < deadline
    }
}

extension PresenceEvent.Change {
    fileprivate func announces(_ client: RTMClient, _ isEntry: Bool) -> Bool {
        let user = client.configuration.userID
        return switch self {
        case .joined(user, _): isEntry
        case .left(user), .timedOut(user): !isEntry
        // What has changed while the watcher was away is in the snapshot (P-1).
        case .snapshot(let users): users.contains { $0.userID == user } == isEntry
        default: false
        }
    }
}
