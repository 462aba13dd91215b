import ArgumentParser
import RTMClient

struct HistoryPurgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Remove the stored messages of a channel or a user for good.",
        discussion: """
            It calls the gateway, with a key that has the scope moderate. A TIME is in milliseconds since \
            1970, or like 2026-03-01T12:00:00Z.
            """)

    @Argument(help: "Name of the message channel.")
    var channel: String?

    @Option(help: "Instead of a channel: the user who received the messages.")
    var user: String?

    @Option(
        help: .init("Only messages before this time.", valueName: "time"),
        transform: { try HistoryTime(argument: $0) })
    var before: HistoryTime?

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard (channel == nil) != (user == nil) else {
            throw ValidationError("give either a channel or --user")
        }
    }

    func run() async throws {
        let names = [channel.map(ArgumentName.channel), user.map(ArgumentName.user)].compactMap { $0 }
        try await gateway.run("history purge", naming: names) { client, output in
            let purged = try await client.delete(
                client.app("history"),
                ["channel": channel, "user": user, "before": before.map { "\($0.milliseconds)" }])
            let removed = (purged["removed"]?.int ?? 0).counted("message")
            try await output.result("\(removed) removed", "result", purged.succeeded)
        }
    }
}
