import ArgumentParser
import Foundation
import RTMClient

struct HistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show stored messages, or remove them for good.",
        discussion: """
            'rtm history CHANNEL' is 'rtm history show CHANNEL'. Messages are stored when they are published \
            with --history.
            """,
        subcommands: [HistoryShowCommand.self, HistoryPurgeCommand.self],
        defaultSubcommand: HistoryShowCommand.self)
}

struct HistoryShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the stored messages of a channel, or those sent to this user, newest first.",
        discussion: """
            Messages are stored when they are published with --history. A TIME is in milliseconds since 1970, \
            or like 2026-03-01T12:00:00Z.
            """)

    @Argument(help: "Name of the message channel. Without it the messages to --user are shown.")
    var channel: String?

    @Option(
        help: .init("Only messages before this time.", valueName: "time"),
        transform: { try HistoryTime(argument: $0) })
    var before: HistoryTime?

    @Option(
        help: .init("Only messages since this time.", valueName: "time"),
        transform: { try HistoryTime(argument: $0) })
    var since: HistoryTime?

    @Option(help: .init("Show at most this many messages.", valueName: "n"))
    var count = 100

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if count < 1 { throw ValidationError("--count must be 1 or more") }
        if let before, let since, before.milliseconds <= since.milliseconds {
            throw ValidationError("no time is before \(before.argument) and since \(since.argument)")
        }
    }

    func run() async throws {
        try await common.run {
            let settings = try common.settings()
            let source = try source(settings)
            try await common.withClient(settings, naming: [source.argument]) { client in
                var output = common.output
                output.transcript.showsChannel = false
                try await show(source, client, output)
            }
        }
    }

    /// A guest is new, so nobody has sent messages to a guest.
    func source(_ settings: ConnectionSettings) throws -> MessageDestination {
        if let channel { return .channel(channel) }
        guard !settings.isGuest else {
            throw ValidationError(
                "name the channel whose messages to show, or with --user the user who received them")
        }
        return .user(settings.userID)
    }

    private func show(_ source: MessageDestination, _ client: RTMClient, _ output: Output) async throws {
        var shown = 0
        var start = before?.milliseconds
        repeat {
            let page = try await client.history(
                of: source, start: start, end: since?.milliseconds,
                count: min(count - shown, Limits.historyPage.upperBound))
            for message in page.messages { try await output.event(.message(message.event(of: source))) }
            shown += page.messages.count
            start = page.nextStart
        } while start != nil && shown < count
        guard output.format == .json else {
            let range = before == nil && since == nil ? "" : " in this time"
            if shown == 0 { output.notice("no messages are stored\(range)") }
            return
        }
        try await output.result(
            nil, "result", ["result": "ok", "count": .number(shown), "newStart": .number(start ?? 0)])
    }
}

/// A point in time, in the milliseconds of a server.
struct HistoryTime: Sendable, Hashable {
    /// As it was given.
    let argument: String
    let milliseconds: UInt64

    init(argument: String) throws {
        self.argument = argument
        if let milliseconds = UInt64(argument) {
            self.milliseconds = milliseconds
            return
        }
        guard let date = try? Date(argument, strategy: .iso8601), date.timeIntervalSince1970 >= 0 else {
            throw ValidationError("'\(argument)' is neither milliseconds nor like 2026-03-01T12:00:00Z")
        }
        milliseconds = UInt64(date.timeIntervalSince1970 * 1000)
    }
}

extension HistoryMessage {
    /// The event that the message was when it was live.
    func event(of source: MessageDestination) -> MessageEvent {
        let (type, name, topic): (ChannelType, String, String) =
            switch source {
            case .channel(let name): (.message, name, "")
            case .user(let id): (.user, id, "")
            case .topic(let topic, let channel): (.stream, channel, topic)
            }
        var event = MessageEvent(
            channelType: type, channelName: name, topic: topic, payload: payload, publisher: publisher,
            customType: customType, timestampMilliseconds: timestampMilliseconds, offset: 0)
        event.order = order
        return event
    }
}
