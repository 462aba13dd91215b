/// The names of the keys of all programs. A program knows more than the names only of its own; with the
/// others it says whose a key is that it doesn't have. Tests compare the list with what the programs print.
enum KeyNames {
    static let all: [String] = sections.flatMap { section, rest in
        rest.split(separator: " ").map { "\(section).\($0)" }
    }

    private static let sections: [(section: String, rest: String)] = [
        (
            "edge",
            """
            admin connections.max connections.perAddressMax frame.bytesMax handshake.bytesMax \
            handshake.timeout listen messaging outbound.bytesMax outbound.timeout \
            outbound.totalBytesMax permissions.publishTopics permissions.revokeLocks permissions.userMetadata presence \
            proxyProtocol.trusted rates.acquireLock \
            rates.appPublish rates.appPublishBytes rates.calls rates.channelMetadata \
            rates.heartbeats rates.login rates.publish rates.refusals rates.renewal \
            rates.sessionPublish rates.sessionPublishBytes rates.stateBytes rates.subscribe \
            rates.topicPublish rates.userMetadata sessions.perAppMax storage subscriptions.max tls.certificate tls.key tls.listen \
            tokens.lifeMax webSocket.compression webSocket.listen webSocket.origins webSocket.path \
            webSocket.tls.listen
            """
        ),
        (
            "messaging",
            """
            admin advertise catchUp.bytesMax catchUp.entriesMax channels.max channels.perAppMax \
            channels.perSessionMax durability journal.backlogMax journal.bytesMax journal.lease listen \
            redis.database redis.endpoints redis.mode redis.password redis.prefix \
            redis.sentinel.master redis.sentinel.password redis.sentinel.user redis.serverName \
            redis.timeout redis.tls redis.trust redis.user shards tail.ageMax tail.totalBytesMax
            """
        ),
        (
            "presence",
            """
            admin announce.max channels.max channels.usersMax debounce grace interval leaseTtl \
            listen messaging redis.database redis.endpoints redis.mode redis.password redis.prefix \
            redis.sentinel.master redis.sentinel.password redis.sentinel.user redis.serverName \
            redis.timeout redis.tls redis.trust redis.user states.intervalBytesMax states.keyBytesMax states.max \
            states.valueBytesMax streamChannels.usersMax sweepInterval
            """
        ),
        (
            "storage",
            """
            admin bytesMax cache data history.appBytesMax history.retention listen locks.grace \
            locks.max messaging metadata.channelsMax metadata.itemsMax metadata.usersMax queueMax \
            readers synchronous
            """
        ),
        (
            "standalone",
            """
            admin data
            """
        ),
    ]
}
