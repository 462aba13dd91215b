import ArgumentParser
import RTMClient

struct EventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "Read what happened in an app, as a backend does.",
        subcommands: [EventTailCommand.self])
}

struct EventTailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the events of an app as they happen, from a cursor on.",
        discussion: """
            Without --after and --from-oldest it begins with what happens next. It runs until it is \
            interrupted (exit status 0), also while gateways are restarted, and says at the end with which \
            cursor to continue; the id of each event is such a cursor, too. The app needs 'events' in its \
            record in the configuration, and the key the scope read.
            """)

    @Option(
        help: .init("Only these types, separated by commas, such as message.published.", valueName: "types"))
    var types: String?

    @Option(help: .init("Only channels whose names begin so.", valueName: "prefix"))
    var prefix: String?

    @Option(help: .init("Begin behind this cursor.", valueName: "cursor"))
    var after: String?

    @Flag(help: "Begin with the oldest event that is kept.")
    var fromOldest = false

    @Option(help: .init("End after this many events.", valueName: "n"))
    var count: Int?

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        if after != nil, fromOldest { throw ValidationError("give either --after or --from-oldest") }
        if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    }

    func run() async throws {
        try await gateway.run("event tail", whenInterrupted: .success) { client, output in
            var tail = EventTail(
                after: fromOldest ? nil : after ?? "latest", types: types, prefix: prefix, left: count)
            do {
                try await tail.run(client, output)
            } catch {
                try? await tail.end(output)
                // It isn't an error to be interrupted.
                if error is CancellationError { return }
                throw error
            }
            try await tail.end(output)
        }
    }

    /// One event for a person.
    static func columns(of event: JSON, _ transcript: Transcript) -> [String?] {
        let data = event["data"]
        let message = data?["message"]?.text.map { "\(data?["publisher"]?.text ?? ""): \($0)" }
        return [
            event["time"]?.time.map { transcript.time($0) }, event["type"]?.text, event["key"]?.text,
            event["number"]?.int.map { "\($0)" }, message ?? data?.description,
        ]
    }
}

/// Follows the events of an app by requests that wait for the next ones.
struct EventTail {
    /// How long a request waits at the gateway.
    private static let wait = Duration.seconds(20)
    private static let pauseMax = Duration.seconds(30)

    /// Nil for the oldest that is kept.
    var after: String?
    let types: String?
    let prefix: String?
    /// How many events are still to be shown; nil for no end.
    var left: Int?
    /// Whether a gateway has answered. Before that, what goes wrong ends the command.
    private var hasBegun = false

    init(after: String?, types: String?, prefix: String?, left: Int?) {
        (self.after, self.types, self.prefix, self.left) = (after, types, prefix, left)
    }

    mutating func run(_ client: GatewayClient, _ output: Output) async throws {
        while left != 0 {
            let page = try await page(client, output)
            let isFirst = !hasBegun
            hasBegun = true
            for event in page["events"]?.array ?? [] {
                try await output.row(
                    EventTailCommand.columns(of: event, output.transcript), "appEvent", event)
                after = event["id"]?.text ?? after
                left = left.map { $0 - 1 }
                if left == 0 { return }
            }
            after = page["next"]?.text ?? after
            if isFirst {
                try await output.status(
                    "events follow behind \(after ?? "")", "following", ["after": .string(after ?? "")])
            }
        }
    }

    /// The next page. A gateway that is away is asked again with growing pauses, however long it takes.
    private func page(_ client: GatewayClient, _ output: Output) async throws -> JSON {
        var pause = Duration.seconds(1)
        var isAway = false
        while true {
            do {
                let page = try await client.get(
                    client.app("events"),
                    [
                        "after": after, "types": types, "channels": prefix,
                        "wait": hasBegun ? "\(Self.wait.components.seconds)s" : nil,
                        "limit": left.map { "\(min($0, 100))" },
                    ], within: Self.wait + GatewayClient.timeout)
                if isAway { output.notice("the gateway answers again") }
                return page
            } catch let error as GatewayError where hasBegun && error.mayPass {
                if !isAway { output.notice("\(error.description); trying again") }
                isAway = true
                try await Task.sleep(for: max(pause, error.retryAfter ?? .zero))
                pause = min(pause * 2, Self.pauseMax)
            }
        }
    }

    /// Says where to continue.
    func end(_ output: Output) async throws {
        guard hasBegun, let after else { return }
        try await output.status(
            "continue with --after \(after)", "result", ["result": "ok", "next": .string(after)])
    }
}
