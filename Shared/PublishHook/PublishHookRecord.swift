package import RTMCredentials
package import RTMModel
package import RTMServiceKit

/// The configuration keys of hooks, which every service has that publishers reach.
package struct PublishHookKeys: ServiceKeys {
    package static let table = Self()

    package let hooks = ConfigurationKey<[PublishHookRecord]>.records(
        "hooks.beforePublish", default: [], countMax: 1_000,
        "Who is asked about each message of an app before it is published: app, url, secret (as \"rtm webhook "
            + "secret\" makes it), and optionally the secret before it, the channels' prefix, how long a message "
            + "waits for the answer (deadline, 500 ms), what happens to it without one (onFailure: refuse, or publish), "
            + "and requests at once (parallel, 64)."
    ).live
    package let privateAddresses = ConfigurationKey<[String]>.list(
        "hooks.privateAddresses", countMax: 100,
        "Networks such as 10.1.0.0/16 that hooks may connect to, beside public addresses.")

    package static let rules = [
        ConfigurationRule(hooks) { PublishHookRecord.problem($0) },
        .networks(privateAddresses),
    ]
}

/// What the configuration says of the hook of one app.
package struct PublishHookRecord: ConfigurationRecord, Hashable {
    /// What becomes of a message about which the hook has not answered in time.
    package enum Failure: String, CaseIterable, Sendable {
        /// It is refused for the moment. A hook is there to decide, so this is the default.
        case refuse
        /// It is published as it came.
        case publish
    }

    package var app: String
    package var url: String
    /// Signs each request: `whsec_` and Base64 of 24 to 64 bytes.
    package var secret: Secret
    /// The secret before this one, with which requests are signed as well while receivers change over.
    package var secretBefore: Secret?
    /// Only messages to channels, topics and users whose names begin so; unset: all messages.
    package var channels: String?
    /// How long a message waits for the answer.
    package var deadline = Duration.milliseconds(500)
    package var onFailure = Failure.refuse
    /// Requests at once of one process.
    package var parallel = 64

    package init(app: String, url: String, secret: Secret) {
        (self.app, self.url, self.secret) = (app, url, secret)
    }

    package static let fields = [
        RecordField("app", .string, isRequired: true), RecordField("url", .string, isRequired: true),
        RecordField("secret", .secret, isRequired: true), RecordField("secretBefore", .secret),
        RecordField("channels", .string),
        RecordField("deadline", .duration(.milliseconds(10) ... .seconds(5))),
        RecordField("onFailure", .choice(Failure.allCases.map(\.rawValue))),
        RecordField("parallel", .int(1...1_024)),
    ]

    package init?(_ record: ConfigurationValue.Record) {
        guard case .string(let app)? = record["app"], case .string(let url)? = record["url"],
            case .secret(let secret)? = record["secret"]
        else { return nil }
        self.init(app: app, url: url, secret: secret)
        if case .secret(let secret)? = record["secretBefore"] { secretBefore = secret }
        if case .string(let prefix)? = record["channels"] { channels = prefix }
        if case .duration(let deadline)? = record["deadline"] { self.deadline = deadline }
        if case .choice(let word)? = record["onFailure"] { onFailure = Failure(rawValue: word) ?? .refuse }
        if case .int(let count)? = record["parallel"] { parallel = count }
    }

    package var record: ConfigurationValue.Record {
        var record: ConfigurationValue.Record = [
            "app": .string(app), "url": .string(url), "secret": .secret(secret),
            "deadline": .duration(deadline), "onFailure": .choice(onFailure.rawValue),
            "parallel": .int(parallel),
        ]
        if let secretBefore { record["secretBefore"] = .secret(secretBefore) }
        if let channels { record["channels"] = .string(channels) }
        return record
    }

    /// Whether the hook wants to be asked about messages to the channel, topic or user. Names are compared
    /// byte by byte, as everywhere.
    package func asks(about channel: ChannelKey) -> Bool {
        channels.map { channel.name.utf8.starts(with: $0.utf8) } ?? true
    }

    /// Nil if the URL is no address of a receiver, or a secret is none.
    package var target: WebhookTarget? {
        WebhookTarget(url: url, secrets: [secret, secretBefore].compactMap { $0?.revealed })
    }

    /// What is wrong with the list, as a clause that follows "the value"; nil if nothing is.
    package static func problem(_ records: [PublishHookRecord]) -> String? {
        var seen: Set<String> = []
        for record in records {
            guard seen.insert(record.app).inserted else {
                return "has two hooks for the app \"\(record.app)\". Set one"
            }
            guard record.target != nil else {
                return "has a hook for the app \"\(record.app)\" that needs a url such as "
                    + "https://example.com/path, without user, password and # and with a port "
                    + "in 1…65535, and a secret as "
                    + "\"rtm webhook secret\" makes it"
            }
        }
        return nil
    }
}
