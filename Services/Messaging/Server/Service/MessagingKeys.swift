import RTMModel
import RTMRedis
package import RTMServiceKit
import RTMWire

/// The configuration keys of a messaging node.
package struct MessagingKeys: ServiceKeys {
    package static let table = Self()

    package let listen = ConfigurationKey<HostPort>.address(
        "messaging.listen", default: HostPort(host: "127.0.0.1", port: 7720),
        "Address where edges, presence and storage connect; keep it off the public network."
    ).forOwnProcess
    package let catchUpEntriesMax = ConfigurationKey<Int>.int(
        "messaging.catchUp.entriesMax", default: 8_192, in: 0...10_000_000,
        "Entries of a channel that a returning subscriber receives; beyond it there is a gap.")
    package let catchUpBytesMax = ConfigurationKey<Int>.byteSize(
        "messaging.catchUp.bytesMax", default: 4 * 1024 * 1024, in: 0...1024 * 1024 * 1024,
        "Bytes of a channel that a returning subscriber receives; beyond it there is a gap.")
    package let tailTotalBytesMax = ConfigurationKey<Int>.byteSize(
        "messaging.tail.totalBytesMax", default: 0, in: 0...1024 * 1024 * 1024 * 1024,
        "Memory for the newest entries of all channels; beyond it the oldest entries of the app that holds most are dropped. "
            + "0 means an eighth of the machine's memory, and at most 384 MiB.")
    package let tailAgeMax = ConfigurationKey<Duration>.duration(
        "messaging.tail.ageMax", default: .seconds(150), in: .zero ... .seconds(86_400),
        "How long an entry is kept for subscribers who come back; at least the resume window of 2 minutes."
    )
    package let feedOutageMax = ConfigurationKey<Duration>.duration(
        "messaging.feed.outageMax", default: .seconds(3_600), in: .zero ... .seconds(86_400),
        "How long after the last request of storage the entries that it still has to collect as events are "
            + "kept beyond messaging.tail.ageMax, if there is memory for them."
    )
    package let channelsMax = ConfigurationKey<Int>.int(
        "messaging.channels.max", default: 1_000_000, in: 1...100_000_000,
        "Channels that this node holds beside inboxes; a publish or subscribe to one more is refused.")
    package let channelsPerAppMax = ConfigurationKey<Int>.int(
        "messaging.channels.perAppMax", default: 250_000, in: 1...100_000_000,
        "Channels of one app that this node holds beside inboxes, so that no app takes the capacity of all others."
    )
    package let channelsPerSessionMax = ConfigurationKey<Int>.int(
        "messaging.channels.perSessionMax", default: 10_000, in: 1...1_000_000,
        "Channels that one session begins by publishing, at once and again within messaging.tail.ageMax.")

    package let shards = ConfigurationKey<Int>.int(
        "messaging.shards", default: 1, in: 1...Limits.shardsMax,
        "Shards of the channels, each of which one messaging node leads: no less than there will be nodes. "
            + "It is fixed for an installation, and the same for all its messaging nodes."
    ).forOwnProcess
    let advertise = ConfigurationKey<HostPort?>.optionalAddress(
        "messaging.advertise",
        "Address where the other services reach this node, which the nodes announce to their callers. Unset: "
            + "messaging.listen, and with 0.0.0.0 or [::] there the address with which the node reaches its "
            + "Redis. If that is on the same machine, only callers that list the node find it."
    ).forOwnProcess
    let redis = RedisKeySet(
        of: "messaging", purpose: "that keeps the journal for several messaging nodes",
        otherwise: "Unset: this node keeps the logs alone, in its memory.")
    let journalLease = ConfigurationKey<Duration>.duration(
        "messaging.journal.lease", default: .seconds(1), in: .milliseconds(200) ... .seconds(60),
        "How long the leader of a shard may be silent before another node becomes its leader."
    ).forOwnProcess
    let journalBytesMax = ConfigurationKey<Int>.byteSize(
        "messaging.journal.bytesMax", default: 512 * 1024 * 1024, in: 1024 * 1024...1024 * 1024 * 1024 * 1024,
        "Bytes of a shard's journal in Redis; beyond it the oldest batches are dropped. "
            + "At least four times messaging.journal.backlogMax."
    ).forOwnProcess
    let journalBacklogMax = ConfigurationKey<Int>.byteSize(
        "messaging.journal.backlogMax", default: 8 * 1024 * 1024, in: 64 * 1024...1024 * 1024 * 1024,
        "Bytes of a shard that may wait for Redis; beyond it messages are refused."
    ).forOwnProcess

    let durability = ConfigurationKey<JournalDurability>.choice(
        "messaging.durability", default: .journal,
        "What has a message of the journal before it is acknowledged and delivered. journal: Redis, in its "
            + "memory, and the leading node; replica: a replica of Redis, too; disk: its append-only file, "
            + "too, which needs Redis 7.2 with appendonly yes."
    ).forOwnProcess

    static let rules = [
        ConfigurationRule(
            tailAgeMax, isAtLeast: Limits.resumeWindow, of: "the resume window",
            because: "a client that comes back within the window has to find every entry it missed")
    ]

    /// The rules of rtm-messaging alone: rtm-standalone has no journal.
    static let journalRules = [
        ConfigurationRule(journalBytesMax) { bytesMax, configuration in
            let backlogMax = configuration[journalBacklogMax]
            guard bytesMax / 4 < backlogMax else { return nil }
            return
                "has to be at least four times messaging.journal.backlogMax (\(backlogMax)), because a "
                + "journal that is cut off sooner begins anew at a takeover. Raise it, or lower the other"
        }
    ]
}
