import ArgumentParser

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain why a message did not arrive, or would not arrive, as a backend asks.",
        subcommands: [ExplainMessageCommand.self, ExplainUserCommand.self, ExplainPublishCommand.self])

    /// Asks, and shows the answer.
    ///
    /// - Parameters:
    ///   - kind: the kind of the question.
    ///   - names: what the command line names.
    fileprivate static func ask(
        _ kind: String, _ question: JSON, naming names: [ArgumentName], _ gateway: GatewayOptions
    ) async throws {
        try await gateway.run("explain \(kind)", naming: names) { client, output in
            let answer = try await client.post(
                client.app("explain"), .object([JSON.Field(name: kind, value: question)]))
            try await output.result(text(of: answer, output.transcript), "explanation", answer)
        }
    }

    /// The verdict, and a line for each hop, which is further to the right than the one before it.
    static func text(of answer: JSON, _ transcript: Transcript) -> String {
        let verdict = "\(answer["verdict"]?.text ?? ""): \(answer["reason"]?.text ?? "")".visible
        return ([verdict] + lines(of: answer["tree"], "", transcript)).joined(separator: "\n")
    }

    private static func lines(of hop: JSON?, _ indent: String, _ transcript: Transcript) -> [String] {
        guard let hop else { return [] }
        let place: [String?] = [
            hop["node"]?.text, hop["loop"]?.int.map { "loop \($0)" },
            hop["session"]?.text.map { "session \($0)" },
        ]
        let columns: [String?] = [
            "\(hop["hop"]?.text ?? "") \(hop["verdict"]?.text ?? "")",
            place.compactMap { $0 }.joined(separator: ", "), hop["at"]?.time.map { transcript.time($0) },
            hop["reason"]?.text,
        ]
        let line = columns.compactMap { $0?.visible }.filter { !$0.isEmpty }.joined(separator: "\t")
        return [indent + line]
            + (hop["hops"]?.array ?? []).flatMap { lines(of: $0, indent + "  ", transcript) }
    }
}

struct ExplainMessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message", abstract: "Show what became of a message, hop by hop.",
        discussion: """
            The offset is what publishing has answered. Without --user the answer goes as far as the edges. \
            The key needs the scope moderate.
            """)

    @Argument(help: "Name of the channel.")
    var channel: String

    @Argument(help: "Offset of the message in the channel.")
    var offset: UInt64

    @Option(help: .init("Whether this user has got it.", valueName: "user"))
    var user: String?

    @Option(
        help: .init("Epoch of the offset; that of the present log unless it is given.", valueName: "epoch"))
    var epoch: UInt64?

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let fields = [
            JSON.Field(name: "channel", value: .string(channel)),
            JSON.Field(name: "offset", value: .number(offset)),
            epoch.map { JSON.Field(name: "epoch", value: .number($0)) },
            user.map { JSON.Field(name: "user", value: .string($0)) },
        ]
        try await ExplainCommand.ask(
            "message", .object(fields.compactMap { $0 }),
            naming: [.channel(channel)] + (user.map { [.user($0)] } ?? []), gateway)
    }
}

struct ExplainUserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Show whether messages reach a user, and what happened to the user lately.",
        discussion: "The key needs the scope moderate.")

    @Argument(help: "User id.")
    var user: String

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        try await ExplainCommand.ask("user", .string(user), naming: [.user(user)], gateway)
    }
}

struct ExplainPublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Show what would become of a message. Nothing is published.",
        discussion: "Without --as the backend itself would publish. The key needs the scope moderate.")

    @Argument(help: "Name of the channel.")
    var channel: String

    @Option(help: .init("Whether this user would get it.", valueName: "user"))
    var to: String

    @Option(name: .customLong("as"), help: .init("The user who would publish.", valueName: "user"))
    var publisher: String?

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let fields = [
            JSON.Field(name: "channel", value: .string(channel)),
            JSON.Field(name: "to", value: .string(to)),
            publisher.map { JSON.Field(name: "as", value: .string($0)) },
        ]
        try await ExplainCommand.ask(
            "publish", .object(fields.compactMap { $0 }),
            naming: [.channel(channel), .user(to)] + (publisher.map { [.user($0)] } ?? []), gateway)
    }
}
