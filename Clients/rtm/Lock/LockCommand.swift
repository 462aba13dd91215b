import ArgumentParser
import RTMClient

struct LockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Create, acquire, release and watch the locks of a channel.",
        subcommands: [
            LockSetCommand.self, LockAcquireCommand.self, LockReleaseCommand.self, LockRevokeCommand.self,
            LockRemoveCommand.self, LockListCommand.self, LockWatchCommand.self,
        ])
}

/// Names a lock.
struct LockArguments: ParsableArguments {
    @Argument(help: "Name of the channel.")
    var channel: String

    @Argument(help: "Name of the lock.")
    var name: String

    @OptionGroup var kind: LockChannelKind

    var names: [ArgumentName] { [.channel(channel), .lock(name)] }
    var type: ChannelType { kind.type }
}

/// Which kind of channel has the locks.
struct LockChannelKind: ParsableArguments {
    @Flag(help: "The channel is a stream channel.")
    var stream = false

    @Option(
        help: .init(
            "Token with an rtc service for the stream channel, for an app with a certificate.",
            valueName: "token"))
    var joinToken: String?

    func validate() throws {
        if joinToken != nil, !stream { throw ValidationError("--join-token needs --stream") }
    }

    var type: ChannelType { stream ? .stream : .message }

    /// Works while this user is in the stream channel: its locks are for those who have joined it (K-18).
    func joined<Value>(
        _ client: RTMClient, _ channel: String, _ work: () async throws -> Value
    ) async throws -> Value {
        guard stream else { return try await work() }
        return try await client.withStreamChannel(channel, token: joinToken, features: [.lock, .quiet]) { _ in
            try await work()
        }
    }
}

struct LockSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Create a lock without an owner.")

    @OptionGroup var lock: LockArguments

    @Option(
        help: .init(
            "How long the lock stays with an owner who is away: 10s to 300s, 10s unless it is given.",
            valueName: "duration"),
        transform: { try Duration(argument: $0) })
    var ttl: Duration = .seconds(10)

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard (.seconds(10) ... .seconds(300)).contains(ttl) else {
            throw ValidationError("--ttl is \(ttl.text), 10s to 300s are allowed")
        }
    }

    func run() async throws {
        try await common.lockCall(on: lock) { client in
            try await client.setLock(lock.name, in: lock.channel, type: lock.type, ttl: ttl)
        }
    }
}

struct LockReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Release a lock that this user owns.",
        discussion: "Give the --user who owns the lock, for example in another run of this tool.")

    @OptionGroup var lock: LockArguments
    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.lockCall(on: lock) { client in
            try await client.releaseLock(lock.name, in: lock.channel, type: lock.type)
        }
    }
}

struct LockRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a lock from its owner.")

    @OptionGroup var lock: LockArguments

    @Argument(help: "User id of the owner.")
    var owner: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.lockCall(on: lock, naming: [.user(owner)]) { client in
            try await client.revokeLock(lock.name, from: owner, in: lock.channel, type: lock.type)
        }
    }
}

struct LockRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete a lock, even while somebody owns it.")

    @OptionGroup var lock: LockArguments
    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.lockCall(on: lock) { client in
            try await client.removeLock(lock.name, in: lock.channel, type: lock.type)
        }
    }
}

struct LockListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the locks of a channel, one per line.")

    @Argument(help: "Name of the channel.")
    var channel: String

    @OptionGroup var kind: LockChannelKind
    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run {
            try await common.withClient(common.settings(), naming: [.channel(channel)]) { client in
                let locks = try await kind.joined(client, channel) {
                    try await client.locks(of: channel, type: kind.type)
                }
                let output = common.output
                switch output.format {
                case .json: try await output.result(nil, "locks", ["locks": .array(locks.map(\.json))])
                case .human:
                    if locks.isEmpty { output.notice("\(channel) has no locks") }
                    for lock in locks { try await output.result(lock.sentence) }
                }
            }
        }
    }
}

struct LockWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show the locks of a channel, and then each change.",
        discussion:
            "It runs until it is interrupted (exit status 0), or until --count events have been shown.")

    @Argument(help: "Name of the message channel.")
    var channel: String

    @Option(help: .init("End after this many events.", valueName: "n"))
    var count: Int?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run() async throws {
        try await common.run(whenInterrupted: .success) {
            try await common.withClient(common.settings(), naming: [.channel(channel)]) { client in
                let events = client.events()
                try await client.subscribe(to: channel, features: [.lock, .quiet])
                try await common.output.show(events, until: count) { event in
                    if case .lock = event { true } else { false }
                }
            }
        }
    }
}

extension LockDetail {
    /// The lock and its owner, for a person.
    var sentence: String {
        let holder = owner.map { "owned by \($0), fencing token \(fencingToken)" } ?? "free"
        return "\(name)  (\(holder), ttl \(ttl.text))".visible
    }

    var json: JSON {
        [
            "lockName": .string(name), "owner": .string(owner ?? ""),
            "ttl": .number(ttl.components.seconds), "fencingToken": .number(fencingToken),
        ]
    }
}

extension CommonOptions {
    fileprivate func lockCall(
        on lock: LockArguments, naming others: [ArgumentName] = [],
        _ work: @escaping @Sendable (RTMClient) async throws -> Void
    ) async throws {
        try await run {
            try await withClient(settings(), naming: lock.names + others) { client in
                try await lock.kind.joined(client, lock.channel) { try await work(client) }
                try await output.result("ok")
            }
        }
    }
}
