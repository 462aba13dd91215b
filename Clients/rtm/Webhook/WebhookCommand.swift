import ArgumentParser
import RTMClient
import RTMCredentials

struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "See how webhooks are doing, try them, and check signatures.",
        discussion: """
            Webhooks are made and changed in the configuration of the gateways. The commands that ask a \
            gateway need a key with the scope admin and without a prefix of channels; secret and verify \
            work without a gateway.
            """,
        subcommands: [
            WebhookListCommand.self, WebhookShowCommand.self, WebhookAttemptsCommand.self,
            WebhookDeadLettersCommand.self, WebhookTestCommand.self, WebhookRedeliverCommand.self,
            WebhookSecretCommand.self, WebhookVerifyCommand.self,
        ])
}

/// Names a webhook at a gateway.
struct WebhookArguments: ParsableArguments {
    @Argument(help: "Name of the webhook.")
    var name: String

    @OptionGroup var gateway: GatewayOptions

    /// The webhook as the list of all of them has it.
    func found(_ client: GatewayClient) async throws -> JSON {
        let all = try await client.webhooks()
        guard let webhook = all.first(where: { $0["name"]?.text == name }) else {
            let names = all.compactMap { $0["name"]?.text }
            throw RTMError(
                .invalidParameter,
                "the app \(client.settings.appID) has no webhook '\(name)'"
                    + NearestName.hint(for: name, among: names), operation: client.operation)
        }
        return webhook
    }
}

extension GatewayClient {
    /// All webhooks of the app. Their list comes in pages.
    fileprivate func webhooks() async throws -> [JSON] {
        var (all, cursor) = ([JSON](), String?.none)
        repeat {
            let page = try await get(app("webhooks"), ["cursor": cursor])
            all += page["webhooks"]?.array ?? []
            cursor = page["nextCursor"]?.text
        } while cursor != nil
        return all
    }
}

struct WebhookListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the webhooks of an app, and how far each is behind.")

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await gateway.run("webhook list") { client, output in
            let webhooks = try await client.webhooks()
            for webhook in webhooks {
                try await output.row(Self.columns(of: webhook), "webhook", webhook)
            }
            if webhooks.isEmpty { output.notice("the app \(client.settings.appID) has no webhooks") }
        }
    }

    static func columns(of webhook: JSON) -> [String?] {
        [
            webhook["name"]?.text, webhook["url"]?.text, state(of: webhook),
            webhook["deadLetters"]?.int.flatMap { $0 > 0 ? $0.counted("dead letter") : nil },
        ]
    }

    static func state(of webhook: JSON) -> String {
        if webhook["isEnded"]?.isTrue == true { return "ended by 410; 'rtm webhook redeliver' begins again" }
        guard let lag = webhook["lag"]?.int else { return "no gateway has begun with it" }
        if webhook["owner"] == nil { return "no gateway delivers it; \(lag.counted("event")) behind" }
        return webhook["oldest"] == nil ? "delivered" : "\(lag.counted("event")) behind"
    }
}

struct WebhookShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a webhook: where it is, and who delivers it.")

    @OptionGroup var webhook: WebhookArguments

    func run() async throws {
        try await webhook.gateway.run("webhook show") { client, output in
            let webhook = try await webhook.found(client)
            try await output.result(Self.text(of: webhook, output.transcript), "webhook", webhook)
        }
    }

    /// A line for each fact.
    static func text(of webhook: JSON, _ transcript: Transcript) -> String {
        let facts: [(String, String?)] = [
            ("name", webhook["name"]?.text), ("url", webhook["url"]?.text),
            ("types", webhook["types"]?.array?.compactMap(\.text).joined(separator: ", ") ?? "all"),
            ("channels", webhook["channels"]?.text.map { "\($0)…" }),
            ("state", WebhookListCommand.state(of: webhook)), ("delivered by", webhook["owner"]?.text),
            ("position", webhook["position"]?.text), ("behind", webhook.count("lag", "event")),
            ("oldest of them", webhook["oldest"]?.time.map { transcript.time($0) }),
            ("dead letters", webhook["deadLetters"]?.int.map { "\($0)" }),
            ("dropped dead letters", webhook["deadLettersDropped"]?.int.map { "\($0)" }),
            (
                "last attempt",
                webhook["attempts"]?.array?.last.map {
                    WebhookAttemptsCommand.columns(of: $0, transcript).compactMap { $0 }
                        .joined(separator: ", ")
                }
            ),
        ]
        return facts.compactMap { name, value in value.map { "\(name)\t\($0.visible)" } }
            .joined(separator: "\n")
    }
}

struct WebhookAttemptsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attempts", abstract: "List the last 25 attempts, oldest first, with the answers.")

    @OptionGroup var webhook: WebhookArguments

    func run() async throws {
        try await webhook.gateway.run("webhook attempts") { client, output in
            let attempts = try await webhook.found(client)["attempts"]?.array ?? []
            for attempt in attempts {
                try await output.row(Self.columns(of: attempt, output.transcript), "attempt", attempt)
            }
            if attempts.isEmpty { output.notice("there was no attempt") }
        }
    }

    static func columns(of attempt: JSON, _ transcript: Transcript) -> [String?] {
        [
            attempt["time"]?.time.map { transcript.time($0) }, attempt.count("events", "event"),
            attempt["outcome"]?.text, attempt["milliseconds"]?.int.map { "\($0) ms" },
            attempt["answer"]?.text.flatMap { $0.isEmpty ? nil : $0 },
        ]
    }
}

struct WebhookDeadLettersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "List the events that were given up, and why.",
        discussion: """
            The second column is the cursor before the event: 'rtm webhook redeliver --after' sends it again, \
            and what follows. With --json the event itself is there as appEvent.
            """)

    @OptionGroup var webhook: WebhookArguments
    @OptionGroup var list: ListOptions

    func run() async throws {
        try await webhook.gateway.run("webhook dead-letters") { client, output in
            let letters = GatewayList(
                path: client.app("webhooks", webhook.name, "dead-letters"), rows: "letters",
                next: ("nextAfter", "after"), takesLimit: false, kind: "deadLetter",
                columns: { row, transcript in Self.columns(of: row, transcript) }, json: Self.json,
                nothing: "there are no dead letters")
            try await letters.show(client, output, limit: list.limit)
        }
    }

    static func columns(of letter: JSON, _ transcript: Transcript) -> [String?] {
        let event = letter["event"]?.text.flatMap { JSON(parsing: $0) }
        return [
            letter["time"]?.time.map { transcript.time($0) }, letter["after"]?.text, letter["reason"]?.text,
            event?["type"]?.text, event?["key"]?.text, event?["number"]?.int.map { "\($0)" },
        ]
    }

    /// The event is an object instead of a text, under a name that isn't that of the line's kind.
    static func json(of letter: JSON) -> JSON {
        .object(
            (letter.fields ?? []).map { field in
                guard field.name == "event", let text = field.value.text else { return field }
                return JSON.Field(name: "appEvent", value: JSON(parsing: text) ?? field.value)
            })
    }
}

struct WebhookTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send an event of the type webhook.test to the receiver now.",
        discussion: "The exit status is 1 unless the receiver answers with 200 to 299.")

    @OptionGroup var webhook: WebhookArguments

    func run() async throws {
        try await webhook.gateway.run("webhook test") { client, output in
            let answer = try await client.post(client.app("webhooks", webhook.name, "test"))
            try await output.row(
                WebhookAttemptsCommand.columns(of: answer, output.transcript), "attempt", answer)
            guard let status = answer["status"]?.int, (200...299).contains(status) else {
                throw ExitCode.failure
            }
        }
    }
}

struct WebhookRedeliverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeliver", abstract: "Send again everything that follows a cursor.",
        discussion: """
            Each event's id is a cursor, and so is what 'event tail' and 'webhook dead-letters' print. It takes \
            up to five seconds until it begins. A webhook that has ended with 410 begins again.
            """)

    @OptionGroup var webhook: WebhookArguments

    @Option(help: .init("The cursor.", valueName: "cursor"))
    var after: String

    func run() async throws {
        try await webhook.gateway.run("webhook redeliver") { client, output in
            let moved = try await client.post(
                client.app("webhooks", webhook.name, "redeliver"), ["after": .string(after)])
            try await output.result(
                "\(webhook.name) continues behind \(moved["position"]?.text ?? after)".visible, "result",
                moved.succeeded)
        }
    }
}

struct WebhookSecretCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Make a secret for a webhook, which the receiver has to know, too.")

    @Flag(help: "Print everything as JSON, one object per line.")
    var json = false

    func run() async throws {
        let secret = WebhookSecret.random()
        try await Output(format: json ? .json : .human, transcript: Transcript())
            .result(secret, "result", ["result": "ok", "secret": .string(secret)])
    }
}
