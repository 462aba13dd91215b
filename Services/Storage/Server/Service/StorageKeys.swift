import RTMServiceKit
import RTMWire

/// The configuration keys of the storage service.
struct StorageKeys: ServiceKeys {
    static let table = Self()

    let listen = ConfigurationKey<HostPort>.address(
        "storage.listen", default: HostPort(host: "127.0.0.1", port: 7740),
        "Address where edges connect; keep it off the public network."
    ).forOwnProcess
    let data = ConfigurationKey<String>.string(
        "storage.data", default: "data",
        "Directory of the database; only one process at a time may use it."
    ).forOwnProcess
    let database = ConfigurationKey<String?>.optionalString(
        "storage.database",
        "PostgreSQL that keeps everything in place of the file, as postgres://USER@HOST:PORT/NAME; the URL "
            + "may name several hosts, and parameters of libpq such as sslmode. Several storage nodes may "
            + "share it. Unset: a SQLite file in storage.data."
    ).certificates
    let shards = ConfigurationKey<Int>.int(
        "storage.shards", default: 4, in: 1...64,
        "Into how many shards nodes with one PostgreSQL divide what they keep; each node leads some of them. "
            + "The number is fixed when the tables are made. A file has one shard.")
    let databasePassword = ConfigurationKey<Secret?>.secret(
        "storage.databasePassword", "Password of the user in PostgreSQL.")
    let advertise = ConfigurationKey<HostPort?>.optionalAddress(
        "storage.advertise",
        "Address where the other services reach this node, which nodes with one PostgreSQL announce to their "
            + "callers. Unset: storage.listen, and with 0.0.0.0 or [::] there the address with which the node "
            + "reaches PostgreSQL. If that is on the same machine, only callers that list the node find it."
    ).forOwnProcess
    let messaging = ServiceAddressesKey(
        "storage.messaging", default: "127.0.0.1:7720",
        "Messaging nodes, as HOST:PORT. Nodes with a journal in Redis announce the addresses of the others.")
    let synchronous = ConfigurationKey<Synchronous>.choice(
        "storage.synchronous", default: .full,
        "What a power cut may undo of acknowledged changes. full: nothing; normal: the last moments, as "
            + "a whole; off: the same, and the file may be damaged. A killed process loses nothing with any value."
    )
    let bytesMax = ConfigurationKey<Int>.byteSize(
        "storage.bytesMax", default: 16 << 30, in: 0...(1 << 50),
        "How large the database may become; a write that doesn't fit is refused. The last sixteenth, at most 64 MiB, is kept back for bans and locks. 0 means no limit but the disk."
    )
    let cacheBytes = ConfigurationKey<Int>.byteSize(
        "storage.cache", default: 32 << 20, in: (1 << 20)...(1 << 36),
        "Memory for pages of the database, for the writer and for each reader.")
    let readers = ConfigurationKey<Int>.int(
        "storage.readers", default: 2, in: 1...64, "Threads that read, beside the one that writes.")
    let queueMax = ConfigurationKey<Int>.int(
        "storage.queueMax", default: 65_536, in: 1...10_000_000,
        "Requests that may wait for the disk; reads and writes are counted separately, and one more is refused."
    )
    let itemsMax = ConfigurationKey<Int>.int(
        "storage.metadata.itemsMax", default: 0, in: 0...1_000_000,
        "Items that the metadata of a channel or user may have; 0 means as many as fit in 16 KiB (L-35).")
    let channelSetsMax = ConfigurationKey<Int>.int(
        "storage.metadata.channelsMax", default: 0, in: 0...1_000_000_000,
        "Channels of an app that may have metadata at one time; 0 means no limit (L-42).")
    let userSetsMax = ConfigurationKey<Int>.int(
        "storage.metadata.usersMax", default: 0, in: 0...1_000_000_000,
        "Users of an app that may have metadata at one time; 0 means no limit (L-42).")
    let locksMax = ConfigurationKey<Int>.int(
        "storage.locks.max", default: 0, in: 0...1_000_000_000,
        "Locks that an app may have at one time; 0 means no limit (L-42).")
    let lockGrace = ConfigurationKey<Duration>.duration(
        "storage.locks.grace", default: .seconds(10), in: .zero ... .seconds(600),
        "How much longer than the ttl owners of locks have to come back after a restart of storage or when "
            + "their edge can't be reached.")
    let appHistoryBytesMax = ConfigurationKey<Int>.byteSize(
        "storage.history.appBytesMax", default: 8 << 30, in: 0...(1 << 50),
        "Bytes of stored messages that one app may have; one more message is not stored. 0 means no limit.")
    let appMetadataBytesMax = ConfigurationKey<Int>.byteSize(
        "storage.metadata.appBytesMax", default: 2 << 30, in: 0...(1 << 50),
        "Bytes of the metadata of all channels and users that one app may have; a write that would make more is refused. 0 means no limit."
    )
    let appEventBytesMax = ConfigurationKey<Int>.byteSize(
        "storage.events.appBytesMax", default: 4 << 30, in: 0...(1 << 50),
        "Bytes of events that one app may have; beyond it the oldest are removed before their time. 0 means no limit."
    )
    let retention = ConfigurationKey<RetentionPeriod>.choice(
        "storage.history.retention", default: .oneWeek,
        "How long stored messages are kept; a change concerns only messages that are stored later. "
            + "historyRetention of an app replaces it."
    ).live
}

extension StorageKeys {
    /// - Parameter engine: that of the database; nil in a program that was built without it.
    static func rules(_ engine: (any DatabaseEngine)?) -> [ConfigurationRule] {
        [ConfigurationRule(table.database) { $0.flatMap { refusal($0, engine) } }]
    }

    /// Why the database can't be used; nil if it can.
    private static func refusal(_ url: String, _ engine: (any DatabaseEngine)?) -> String? {
        guard let engine else {
            return "is set, but this program was built without PostgreSQL: build it with POSTGRESQL=1"
        }
        return engine.problem(of: url).map { "can't be used: \($0)" }
    }
}

extension InboxRules {
    init(_ configuration: Configuration) {
        self.init(
            apps: Set(configuration[CommonKeys.apps].map(\.id)),
            retention: StorageRules(configuration).retention)
    }
}

extension StorageRules {
    init(_ configuration: Configuration) {
        self.init()
        metadata.itemsMax = Self.quota(configuration[StorageKeys.itemsMax])
        quotas = AppUsage.Quotas(
            channelSets: Self.quota(configuration[StorageKeys.channelSetsMax]),
            userSets: Self.quota(configuration[StorageKeys.userSetsMax]),
            locks: Self.quota(configuration[StorageKeys.locksMax]),
            historyBytes: Self.quota(configuration[StorageKeys.appHistoryBytesMax]),
            metadataBytes: Self.quota(configuration[StorageKeys.appMetadataBytesMax]),
            eventBytes: Self.quota(configuration[StorageKeys.appEventBytesMax]))
        bytesMax = Self.quota(configuration[StorageKeys.bytesMax])
        lockGraceMilliseconds = UInt64(configuration[StorageKeys.lockGrace] / .milliseconds(1))
        let ofApps = configuration[CommonKeys.apps].compactMap { app in
            app.historyRetention.map { (app.id, $0) }
        }
        events = Dictionary(
            configuration[CommonKeys.apps].compactMap { app in
                app.events.map { (app.id, $0.milliseconds) }
            }
        ) { $1 }
        retention = HistoryRetention(
            usual: configuration[StorageKeys.retention], ofApps: Dictionary(ofApps) { $1 })
    }

    /// 0 means no limit.
    private static func quota(_ value: Int) -> Int? { value == 0 ? nil : value }
}
