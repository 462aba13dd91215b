import RTMModel
package import RTMServiceKit
import RTMWire

/// The configuration keys of a messaging node.
package enum MessagingKeys {
    package static let listen = ConfigurationKey<HostPort>.address(
        "messaging.listen", default: HostPort(host: "127.0.0.1", port: 7720),
        "Address where edges, presence and storage connect; keep it off the public network.")
    package static let tailEntriesMax = ConfigurationKey<Int>.int(
        "messaging.tail.entriesMax", default: 8_192, in: 0...10_000_000,
        "Entries that a channel keeps for subscribers who come back.")
    package static let tailBytesMax = ConfigurationKey<Int>.byteSize(
        "messaging.tail.bytesMax", default: 4 * 1024 * 1024, in: 0...1024 * 1024 * 1024,
        "Bytes that a channel keeps for subscribers who come back.")
    package static let tailTotalBytesMax = ConfigurationKey<Int>.byteSize(
        "messaging.tail.totalBytesMax", default: 0, in: 0...1024 * 1024 * 1024 * 1024,
        "Memory that the tails of all channels take; beyond it the oldest entries of the app that holds most go. "
            + "0 means a quarter of the machine's memory.")
    package static let tailAgeMax = ConfigurationKey<Duration>.duration(
        "messaging.tail.ageMax", default: .seconds(150), in: .zero ... .seconds(86_400),
        "How long a channel keeps an entry for subscribers who come back; at least the resume window of 2 minutes."
    )
    package static let channelsMax = ConfigurationKey<Int>.int(
        "messaging.channels.max", default: 1_000_000, in: 1...100_000_000,
        "Channels that this node holds beside inboxes; a publish or subscribe to one more is refused.")
    package static let channelsPerAppMax = ConfigurationKey<Int>.int(
        "messaging.channels.perAppMax", default: 250_000, in: 1...100_000_000,
        "Channels that this node holds of one app beside inboxes, so that no app takes the room of all others."
    )
    package static let channelsPerSessionMax = ConfigurationKey<Int>.int(
        "messaging.channels.perSessionMax", default: 10_000, in: 1...1_000_000,
        "Channels that one session begins by publishing, at once and again within messaging.tail.ageMax.")

    static let limits: [KeyDeclaration] = [
        ServiceLinkKeys.secret.declaration, tailEntriesMax.declaration, tailBytesMax.declaration,
        tailTotalBytesMax.declaration, tailAgeMax.declaration, channelsMax.declaration,
        channelsPerAppMax.declaration, channelsPerSessionMax.declaration,
    ]

    static let rules = [
        ConfigurationRule(
            tailAgeMax, isAtLeast: Limits.resumeWindow, of: "the resume window",
            because: "a client that comes back within the window has to find every entry it missed")
    ]
}

extension EmbeddedBroker.Limits {
    init(_ configuration: Configuration) {
        let ageMax = configuration[MessagingKeys.tailAgeMax].milliseconds
        self.init(
            retention: ChannelLog.Retention(
                entriesMax: configuration[MessagingKeys.tailEntriesMax],
                bytesMax: configuration[MessagingKeys.tailBytesMax], ageMax: ageMax),
            idleMax: ageMax, channelsMax: configuration[MessagingKeys.channelsMax],
            channelsPerAppMax: configuration[MessagingKeys.channelsPerAppMax],
            channelsPerSessionMax: configuration[MessagingKeys.channelsPerSessionMax],
            forgottenPerAppMax: configuration[MessagingKeys.channelsPerAppMax],
            tailBytesMax: Self.tailBytesMax(configuration[MessagingKeys.tailTotalBytesMax]))
    }

    private static func tailBytesMax(_ configured: Int) -> Int {
        configured > 0 ? configured : MachineMemory.bytes / 4
    }
}
