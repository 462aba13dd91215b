package import Logging

/// The keys that every program has, and those that several services read.
package struct CommonKeys: ServiceKeys {
    package static let table = Self()

    package let logLevel = ConfigurationKey<Logger.Level>.choice(
        "log.level", default: .info, "The least severe level that is logged.")

    package let logFormat = ConfigurationKey<LogFormat>.choice(
        "log.format", default: .auto,
        "Lines for people, or one JSON object per line; auto is text on a terminal and JSON otherwise.")

    package let threads = ConfigurationKey<Int>.int(
        "threads", default: 0, in: 0...256,
        "Event loops, each with its own thread; 0 is one per processor core.")

    package let shutdownTimeout = ConfigurationKey<Duration>.duration(
        "shutdown.timeout", default: .seconds(20), in: .zero ... .seconds(600),
        "How long the whole shutdown may take; work that isn't finished by then is cut off.")

    package let tracingEndpoint = ConfigurationKey<HostPort?>.optionalAddress(
        "tracing.endpoint",
        "Address of a collector of OpenTelemetry, which gets traces as OTLP over HTTP in the clear: run it on "
            + "the same machine. Unset, nothing is traced.")

    package let tracedPerMillion = ConfigurationKey<Int>.int(
        "tracing.perMillion", default: 1_000, in: 0...1_000_000,
        "How many of a million requests of clients an edge traces, chosen by chance. The other services "
            + "continue the traces that an edge has begun.")

    /// Listed by the services that admit clients.
    package static let apps = ConfigurationKey<[AppRecord]>.records(
        "apps", default: [AppRecord(id: "dev")], countMax: 10_000,
        "The apps whose clients may log in. With a certificate only tokens signed with it are accepted, and "
            + "id and certificate are 32 hexadecimal digits each. jwtKeys is a file of the keys of JWTs (a JWKS "
            + "document or a public key in PEM), jwtKeysURL the URL of such a document, jwtIssuer their iss, and "
            + "jwtAudience their aud (unset: the app id). subscriptionsMax, sessionsMax, the rates and "
            + "historyRetention replace for the app edge.subscriptions.max, edge.sessions.perAppMax, those of "
            + "edge.rates, and storage.history.retention. service switches everything off (none), or stream "
            + "channels alone (messages). events is how long the app's events are kept for its backends "
            + "(unset: there are none)."
    ).live

    /// Listed by the services that admit clients.
    package static let tokenLifeMax = ConfigurationKey<Duration>.duration(
        "tokens.lifeMax", default: .zero, in: .zero ... .seconds(10 * 365 * 86_400),
        "How long a token lives at most, counted from its issue, whatever its expire says; 0 means no limit (L-50)."
    ).live

    /// The key of the admin listener of the program with this section name. The default port differs from
    /// program to program.
    static func admin(section: String, default address: HostPort) -> ConfigurationKey<HostPort> {
        .address(
            "\(section).admin", default: address,
            "Address where health, metrics and the configuration are served; keep it off the public network."
        )
    }
}

/// One app: clients name it by id at login.
package struct AppRecord: ConfigurationRecord, Hashable {
    package var id: String
    /// Signs the tokens 007 of the app. Without a certificate and keys of JWTs, clients log in with the app
    /// id alone.
    package var certificate: Secret?
    /// How many message channels one session of the app may be subscribed to. Unset: the value for every app.
    package var subscriptionsMax: Int?
    /// Replaces a rate of `edge.rates` for the app. Unset: the value for every app.
    package var publishRate: Int?
    package var callRate: Int?
    package var subscribeRate: Int?
    package var loginRate: Int?
    package var channelMetadataRate: Int?
    package var userMetadataRate: Int?
    package var acquireLockRate: Int?
    package var renewalRate: Int?
    package var sessionPublishRate: Int?
    package var sessionPublishBytes: Int?
    package var appPublishRate: Int?
    package var appPublishBytes: Int?
    /// Replaces `edge.sessions.perAppMax` for the app. Unset: the value for every app.
    package var sessionsMax: Int?
    /// Replaces `storage.history.retention` for the app. Unset: the value for every app.
    package var historyRetention: RetentionPeriod?
    /// What is switched on for the app. Unset: everything.
    package var service: AppService?
    /// The file of the keys that the app's JWTs may be signed with.
    package var jwtKeys: String?
    /// The URL that these keys are fetched from instead.
    package var jwtKeysURL: String?
    /// The issuer (`iss`) of the app's JWTs. Unset: whoever has the keys.
    package var jwtIssuer: String?
    /// The audience (`aud`) of the app's JWTs. Unset: the app id.
    package var jwtAudience: String?
    /// For how long the app's events are kept for its backends. Unset: there are none.
    package var events: Duration?

    package var takesJWTs: Bool { jwtKeys ?? jwtKeysURL != nil }

    package init(id: String, certificate: Secret? = nil, subscriptionsMax: Int? = nil) {
        self.id = id
        self.certificate = certificate
        self.subscriptionsMax = subscriptionsMax
    }

    package static let fields =
        [
            RecordField("id", .string, isRequired: true), RecordField("certificate", .secret),
            RecordField("subscriptionsMax", .int(1...1_000_000)),
        ] + rates.map { RecordField($0.name, .int(0...1_000_000)) }
        + [RecordField("historyRetention", .choice(RetentionPeriod.allCases.map(\.rawValue)))]
        + laterRates.map { RecordField($0.name, .int(0...1_000_000)) }
        + counts.map { RecordField($0.name, .int(0...10_000_000)) }
        + bytes.map { RecordField($0.name, .byteSize(0...1 << 40)) }
        + [RecordField("service", .choice(AppService.allCases.map(\.rawValue)))]
        + texts.map { RecordField($0.name, .string, isFile: $0.name == "jwtKeys") }
        + [
            RecordField("events", .duration(.seconds(60) ... .seconds(30 * 86_400))),
            RecordField("jwtKeysURL", .string),
        ]

    private static var rates: [(name: String, path: WritableKeyPath<AppRecord, Int?>)] {
        [
            ("publishRate", \.publishRate), ("callRate", \.callRate), ("subscribeRate", \.subscribeRate),
            ("loginRate", \.loginRate),
        ]
    }

    /// These fields come last, so that records that are written by position keep their meaning.
    private static var laterRates: [(name: String, path: WritableKeyPath<AppRecord, Int?>)] {
        [
            ("channelMetadataRate", \.channelMetadataRate), ("userMetadataRate", \.userMetadataRate),
            ("acquireLockRate", \.acquireLockRate), ("renewalRate", \.renewalRate),
        ]
    }

    private static var counts: [(name: String, path: WritableKeyPath<AppRecord, Int?>)] {
        [
            ("sessionPublishRate", \.sessionPublishRate), ("appPublishRate", \.appPublishRate),
            ("sessionsMax", \.sessionsMax),
        ]
    }

    private static var bytes: [(name: String, path: WritableKeyPath<AppRecord, Int?>)] {
        [("sessionPublishBytes", \.sessionPublishBytes), ("appPublishBytes", \.appPublishBytes)]
    }

    private static var texts: [(name: String, path: WritableKeyPath<AppRecord, String?>)] {
        [("jwtKeys", \.jwtKeys), ("jwtIssuer", \.jwtIssuer), ("jwtAudience", \.jwtAudience)]
    }

    package init?(_ record: ConfigurationValue.Record) {
        guard case .string(let id)? = record["id"] else { return nil }
        self.init(id: id)
        if case .secret(let secret)? = record["certificate"] { certificate = secret }
        if case .int(let limit)? = record["subscriptionsMax"] { subscriptionsMax = limit }
        if case .choice(let period)? = record["historyRetention"] {
            historyRetention = RetentionPeriod(rawValue: period)
        }
        if case .choice(let service)? = record["service"] { self.service = AppService(rawValue: service) }
        if case .duration(let time)? = record["events"] { events = time }
        if case .string(let url)? = record["jwtKeysURL"] { jwtKeysURL = url }
        for (name, path) in Self.rates + Self.laterRates + Self.counts {
            if case .int(let rate)? = record[name] { self[keyPath: path] = rate }
        }
        for (name, path) in Self.bytes {
            if case .byteSize(let bytes)? = record[name] { self[keyPath: path] = bytes }
        }
        for (name, path) in Self.texts {
            if case .string(let text)? = record[name] { self[keyPath: path] = text }
        }
    }

    package var record: ConfigurationValue.Record {
        var record: ConfigurationValue.Record = ["id": .string(id)]
        if let certificate { record["certificate"] = .secret(certificate) }
        if let subscriptionsMax { record["subscriptionsMax"] = .int(subscriptionsMax) }
        if let historyRetention { record["historyRetention"] = .choice(historyRetention.rawValue) }
        if let service { record["service"] = .choice(service.rawValue) }
        if let events { record["events"] = .duration(events) }
        if let jwtKeysURL { record["jwtKeysURL"] = .string(jwtKeysURL) }
        for (name, path) in Self.rates + Self.laterRates + Self.counts {
            if let rate = self[keyPath: path] { record[name] = .int(rate) }
        }
        for (name, path) in Self.bytes {
            if let bytes = self[keyPath: path] { record[name] = .byteSize(bytes) }
        }
        for (name, path) in Self.texts {
            if let text = self[keyPath: path] { record[name] = .string(text) }
        }
        return record
    }
}
