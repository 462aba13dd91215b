import NIOCore
import RTMAppConfiguration
import RTMModel
package import RTMServiceKit

/// The configuration keys of an edge: what can be set, in which range, to what effect.
package struct EdgeKeys: ServiceKeys {
    package static let table = Self()

    package let listen = ConfigurationKey<HostPort>.address(
        "edge.listen", default: HostPort(host: "127.0.0.1", port: 7710),
        "Where clients connect in the clear; keep it to trusted networks or behind a proxy that does TLS.")
    package let tlsListen = ConfigurationKey<HostPort?>.optionalAddress(
        "edge.tls.listen", "Where clients connect with TLS; needs the certificate and the key.")
    package let tlsCertificate = ConfigurationKey<String?>.optionalFile(
        "edge.tls.certificate", "PEM file with the certificate chain, the server's own certificate first."
    ).live.certificates
    package let tlsKey = ConfigurationKey<String?>.optionalFile(
        "edge.tls.key", "PEM file with the private key of the certificate."
    ).live
    package let webSocketListen = ConfigurationKey<HostPort?>.optionalAddress(
        "edge.webSocket.listen",
        "Where clients connect with WebSocket in the clear; for a proxy that does TLS, or trusted networks.")
    package let webSocketTLSListen = ConfigurationKey<HostPort?>.optionalAddress(
        "edge.webSocket.tls.listen",
        "Where clients connect with WebSocket over TLS, with the certificate and the key of edge.tls.")
    package let webSocketPath = ConfigurationKey<String>.string(
        "edge.webSocket.path", default: "/rtm",
        "The path of the WebSocket; any other one is answered with 404.")
    package let webSocketOrigins = ConfigurationKey<[String]>.list(
        "edge.webSocket.origins", countMax: 1_000,
        "Origins, like https://example.org, whose web pages may open a WebSocket; none given: all may.")
    package let webSocketCompression = ConfigurationKey<Bool>.bool(
        "edge.webSocket.compression", default: false,
        "Whether clients over WebSocket may agree on compression (permessage-deflate); it costs processor time."
    )
    let balancers = ConfigurationKey<[String]>.list(
        "edge.proxyProtocol.trusted", countMax: 1_000,
        "Load balancers, as addresses or networks like 10.0.0.0/8, whose connections begin with the client's own address in a header of the PROXY protocol, version 2; no others may send one."
    )
    package let messaging = ServiceAddressesKey(
        "edge.messaging", default: "127.0.0.1:7720",
        "Messaging nodes, as HOST:PORT. Nodes with a journal in Redis announce the addresses of the others.")
    package let presence = ServiceAddressesKey(
        "edge.presence", default: "127.0.0.1:7730",
        "Presence nodes, as HOST:PORT, of which any will do; several have to share a Redis. Without a link to one, the next is tried."
    )
    package let storage = ServiceAddressesKey(
        "edge.storage", default: "127.0.0.1:7740",
        "Storage nodes, as HOST:PORT. Several share a PostgreSQL, and announce the addresses of the others.")
    let adminKey = ConfigurationKey<Secret?>.secret(
        "edge.adminKey",
        "Key for the pages of the admin port that show what users do. Unset, they answer only where the port is on loopback."
    ).live
    package let connectionsMax = ConfigurationKey<Int>.int(
        "edge.connections.max", default: 100_000, in: 1...10_000_000,
        "Client connections at once; a further one is refused with a time to come back.")
    package let connectionsPerAddressMax = ConfigurationKey<Int>.int(
        "edge.connections.perAddressMax", default: 20_000, in: 1...10_000_000,
        "Client connections at once from one address; raise it when a load balancer hides the clients' own.")
    package let frameBytesMax = ConfigurationKey<Int>.byteSize(
        "edge.frame.bytesMax", default: 64 * 1024, in: 40 * 1024...16 * 1024 * 1024,
        "The longest frame accepted from a client; a longer one ends its connection.")
    package let outboundBytesMax = ConfigurationKey<Int>.byteSize(
        "edge.outbound.bytesMax", default: 1024 * 1024, in: 64 * 1024...1024 * 1024 * 1024,
        "What may wait for one client that reads slowly; beyond it the connection is cut off, and can resume."
    )
    package let outboundTotalBytesMax = ConfigurationKey<Int>.byteSize(
        "edge.outbound.totalBytesMax", default: 1 << 30, in: 16 << 20...1 << 40,
        "Memory of an edge for what its clients have not read yet, an equal share for each event loop; "
            + "beyond it, those that hold the most are cut off, and can resume.")
    package let outboundTimeout = ConfigurationKey<Duration>.duration(
        "edge.outbound.timeout", default: .seconds(60), in: .seconds(1) ... .seconds(3_600),
        "How long a client may leave what waits for it unread; then it is cut off, and can resume.")
    package let handshakeBytesMax = ConfigurationKey<Int>.byteSize(
        "edge.handshake.bytesMax", default: 8 << 20, in: 64 * 1024...1 << 40,
        "Memory of one event loop for half frames of clients that have not logged in.")
    package let handshakeTimeout = ConfigurationKey<Duration>.duration(
        "edge.handshake.timeout", default: .seconds(10), in: .milliseconds(100) ... .seconds(300),
        "Time from a connection's start to an accepted login.")
    package let subscriptionsMax = ConfigurationKey<Int>.int(
        "edge.subscriptions.max", default: Limits.subscribedChannelsMax, in: 1...1_000_000,
        "Message channels that one session may be subscribed to (L-24)."
    ).live

    package let sessionsMax = ConfigurationKey<Int>.int(
        "edge.sessions.perAppMax", default: 0, in: 0...10_000_000,
        "Sessions of one app at one edge; one more login is refused. 0 means no limit (L-42)."
    ).live
    package let ratesUnlimited = ConfigurationKey<Bool>.bool(
        "edge.rates.unlimited", default: false,
        "Lifts all rates, those of single apps too, to measure how fast the installation is. Never for users: one client may then take all of it."
    )
    package let publishRate = ConfigurationKey<Int>.int(
        "edge.rates.publish", default: 60, in: 0...1_000_000,
        "Messages per second of one session to one channel or user; 0 means no limit (R-2)."
    ).live
    package let sessionPublishRate = ConfigurationKey<Int>.int(
        "edge.rates.sessionPublish", default: 1_000, in: 0...10_000_000,
        "Messages per second of one session to all channels and users; 0 means no limit (R-13)."
    ).live
    package let sessionPublishBytes = ConfigurationKey<Int>.byteSize(
        "edge.rates.sessionPublishBytes", default: 4 << 20, in: 0...1 << 40,
        "Bytes of messages per second of one session; 0 means no limit (R-13)."
    ).live
    package let appPublishRate = ConfigurationKey<Int>.int(
        "edge.rates.appPublish", default: 50_000, in: 0...10_000_000,
        "Messages per second of all sessions of an app at one edge; 0 means no limit (R-14)."
    ).live
    package let appPublishBytes = ConfigurationKey<Int>.byteSize(
        "edge.rates.appPublishBytes", default: 64 << 20, in: 0...1 << 40,
        "Bytes of messages per second of all sessions of an app at one edge; 0 means no limit (R-14)."
    ).live
    package let callRate = ConfigurationKey<Int>.int(
        "edge.rates.calls", default: 20, in: 0...1_000_000,
        "Other calls per second of one session; 0 means no limit (R-1)."
    ).live
    package let subscribeRate = ConfigurationKey<Int>.int(
        "edge.rates.subscribe", default: 2, in: 0...1_000_000,
        "Subscribes of one session to the same channel in five seconds; 0 means no limit (R-5)."
    ).live
    package let channelMetadataRate = ConfigurationKey<Int>.int(
        "edge.rates.channelMetadata", default: 10, in: 0...1_000_000,
        "Calls for channel metadata per second of one session, twice that at once; 0 means no limit (R-6)."
    ).live
    package let userMetadataRate = ConfigurationKey<Int>.int(
        "edge.rates.userMetadata", default: 10, in: 0...1_000_000,
        "Calls for user metadata per second of one session, twice that at once; 0 means no limit (R-7)."
    ).live
    package let acquireLockRate = ConfigurationKey<Int>.int(
        "edge.rates.acquireLock", default: 10, in: 0...1_000_000,
        "Acquires of locks per second of one session; 0 means no limit (R-8)."
    ).live
    package let renewalRate = ConfigurationKey<Int>.int(
        "edge.rates.renewal", default: 2, in: 0...1_000_000,
        "Renewals of its token per second of one session; 0 means no limit (R-10)."
    ).live
    package let loginRate = ConfigurationKey<Int>.int(
        "edge.rates.login", default: 2, in: 0...1_000_000,
        "Logins per second of one user at one edge, five times that at once; 0 means no limit (R-9)."
    ).live
    package let heartbeatRate = ConfigurationKey<Int>.int(
        "edge.rates.heartbeats", default: 10, in: 0...1_000_000,
        "Heartbeats per second of one connection, ten times that at once; more count as refusals (R-16).")
    package let refusalRate = ConfigurationKey<Int>.int(
        "edge.rates.refusals", default: 100, in: 0...1_000_000,
        "Refusals for a rate per second, fifty times that at once; beyond it a connection is cut off (R-16).")

    package let topicPublishRate = ConfigurationKey<Int>.int(
        "edge.rates.topicPublish", default: 200, in: 0...1_000_000,
        "Messages per second of one session to one topic; 0 means no limit (R-4)."
    ).live

    package let stateBytesRate = ConfigurationKey<Int>.byteSize(
        "edge.rates.stateBytes", default: 1 << 20, in: 0...1 << 40,
        "Bytes of temporary states, times the users who get them, per second of one user at one edge, four times that at once; 0 means no limit (R-17)."
    ).live
    package let pageBytesRate = ConfigurationKey<Int>.byteSize(
        "edge.rates.pageBytes", default: 1 << 20, in: 0...1 << 40,
        "Bytes of history, metadata and other answers to queries per second of one user at one edge, sixteen times that at once; 0 means no limit (R-19)."
    ).live
    package let appPageBytesRate = ConfigurationKey<Int>.byteSize(
        "edge.rates.appPageBytes", default: 32 << 20, in: 0...1 << 40,
        "Bytes of history, metadata and other answers to queries per second of all users of an app at one edge, twice that at once; 0 means no limit (R-19)."
    ).live

    let topicPublishers = ConfigurationKey<ForeignPolicies.Policy>.choice(
        "edge.permissions.publishTopics", default: .everybody,
        "Who may publish in stream channels: everybody who has joined, or those who joined with a token that has the privilege to publish data (A-13)."
    ).live

    /// What the listeners with TLS show.
    static let identity = TLSIdentityKeys(tlsCertificate, tlsKey)

    /// Whether any listener has TLS.
    static func hasTLS(_ configuration: Configuration) -> Bool {
        configuration[tlsListen] != nil || configuration[webSocketTLSListen] != nil
    }

    static let rules =
        [
            ConfigurationRule(tlsListen, needs: [tlsCertificate, tlsKey], when: { $0 != nil }),
            ConfigurationRule(webSocketTLSListen, needs: [tlsCertificate, tlsKey], when: { $0 != nil }),
            ConfigurationRule(webSocketPath) { path in
                let isPath = path.hasPrefix("/") && path.allSatisfy { $0.isASCII && !" ?#".contains($0) }
                return isPath
                    ? nil
                    : "is no path: it takes a slash first, and ASCII without space, ? and #. "
                        + "Set edge.webSocket.path to one such as /rtm"
            },
            ConfigurationRule(adminKey) { key in
                key.map { $0.revealed.utf8.count < Secret.bytesMin } ?? false
                    ? "has fewer than \(Secret.bytesMin) bytes. \(Secret.advice)" : nil
            },
            ConfigurationRule(balancers) { texts in
                texts.first { AddressRange($0) == nil }.map {
                    "has \"\($0)\", which is neither an address nor a network. "
                        + "Write an address such as 10.0.0.7, or a network such as 10.0.0.0/8"
                }
            },
        ] + ConfiguredApp.rules

    /// An edge that ends sends its sessions away at a fixed pace, and the last one needs its turn, too.
    static let drain = ConfigurationRule(CommonKeys.shutdownTimeout) { timeout, configuration in
        let connections = configuration[connectionsMax]
        let pace = EdgeLimits.drainedPerSecond
        let least = Duration.seconds((connections + pace - 1) / pace)
        guard timeout < least else { return nil }
        return ConfigurationRule.tooShort(
            CommonKeys.shutdownTimeout, timeout, for: connectionsMax.declaration.name, "\(connections)",
            least: least, because: "an edge that ends sends \(pace) sessions away per second")
    }
}

extension EdgeConfiguration {
    /// - Parameters:
    ///   - fetches: has the keys of JWTs that are fetched.
    ///   - read: reads a text file.
    /// - Throws: the key whose file can't be used.
    init(
        _ configuration: Configuration, _ fetches: KeyFetches? = nil,
        _ read: (String) throws -> String = { try TextFile.read($0) }
    ) throws(ConfigurationError) {
        applications = try ConfiguredApp.all(in: configuration, fetches, read).map {
            Application($0, configuration)
        }
        let isUnlimited = configuration[EdgeKeys.ratesUnlimited]
        limits = EdgeLimits(
            connectionsMax: configuration[EdgeKeys.connectionsMax],
            connectionsPerAddressMax: configuration[EdgeKeys.connectionsPerAddressMax],
            frameBytesMax: configuration[EdgeKeys.frameBytesMax],
            outboundBytesMax: configuration[EdgeKeys.outboundBytesMax],
            outboundLoopBytesMax: configuration[EdgeKeys.outboundTotalBytesMax],
            handshakeTimeout: TimeAmount(configuration[EdgeKeys.handshakeTimeout]),
            outboundTimeout: TimeAmount(configuration[EdgeKeys.outboundTimeout]),
            handshakeBytesMax: configuration[EdgeKeys.handshakeBytesMax],
            refusals: Rate(perSecond: isUnlimited ? 0 : configuration[EdgeKeys.refusalRate], timesAtOnce: 50),
            heartbeats: Rate(
                perSecond: isUnlimited ? 0 : configuration[EdgeKeys.heartbeatRate], timesAtOnce: 10),
            compressesWebSockets: configuration[EdgeKeys.webSocketCompression])
        serverName = "heliograph/\(BuildInformation.version)"
    }
}

extension Application {
    /// What the app's record leaves out is taken from the keys that hold for every app.
    fileprivate convenience init(_ app: ConfiguredApp, _ configuration: Configuration) {
        let record = app.record
        let subscriptionsMax = record.subscriptionsMax ?? configuration[EdgeKeys.subscriptionsMax]
        var policies = app.policies
        policies.topics = configuration[EdgeKeys.topicPublishers]
        self.init(
            id: record.id, tokens: app.tokens, subscriptionsMax: subscriptionsMax,
            rates: ApplicationRates(record, configuration, subscriptionsMax: subscriptionsMax),
            sessionsMax: record.sessionsMax ?? configuration[EdgeKeys.sessionsMax],
            policies: policies,
            service: record.service ?? .all, hasEvents: record.events != nil)
    }
}

extension ApplicationRates {
    fileprivate init(_ record: AppRecord, _ configuration: Configuration, subscriptionsMax: Int) {
        guard !configuration[EdgeKeys.ratesUnlimited] else {
            self = .unlimited
            return
        }
        self.init(
            publish: record.publishRate ?? configuration[EdgeKeys.publishRate],
            calls: record.callRate ?? configuration[EdgeKeys.callRate],
            subscribesMax: record.subscribeRate ?? configuration[EdgeKeys.subscribeRate],
            login: record.loginRate ?? configuration[EdgeKeys.loginRate],
            subscriptionsMax: subscriptionsMax,
            channelMetadata: record.channelMetadataRate ?? configuration[EdgeKeys.channelMetadataRate],
            userMetadata: record.userMetadataRate ?? configuration[EdgeKeys.userMetadataRate],
            acquireLock: record.acquireLockRate ?? configuration[EdgeKeys.acquireLockRate],
            renewal: record.renewalRate ?? configuration[EdgeKeys.renewalRate],
            sessionPublish: PublishRate(
                messages: record.sessionPublishRate ?? configuration[EdgeKeys.sessionPublishRate],
                bytes: record.sessionPublishBytes ?? configuration[EdgeKeys.sessionPublishBytes]),
            appPublish: PublishRate(
                messages: record.appPublishRate ?? configuration[EdgeKeys.appPublishRate],
                bytes: record.appPublishBytes ?? configuration[EdgeKeys.appPublishBytes]),
            topicPublish: configuration[EdgeKeys.topicPublishRate],
            stateBytes: configuration[EdgeKeys.stateBytesRate],
            pageBytes: configuration[EdgeKeys.pageBytesRate],
            appPageBytes: configuration[EdgeKeys.appPageBytesRate])
    }
}
