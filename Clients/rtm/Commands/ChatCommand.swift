import ArgumentParser
import RTMClient

struct ChatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat", abstract: "Chat with all users of a channel.",
        discussion: """
            Type a line and press Enter. /who lists who is here. /quit, Ctrl-D and Ctrl-C leave. Ctrl-R shows \
            again what you have typed when a message came in between. Without a terminal, lines are read from \
            standard input to its end.
            """)

    @Argument(help: "Name of the message channel.")
    var channel: String

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run(whenInterrupted: .success) {
            let settings = try common.settings()
            try await common.withClient(settings, naming: [.channel(channel)]) { client in
                let events = client.events()
                try await client.subscribe(to: channel, features: [.message, .presence])
                try await talk(client, events)
            }
        }
    }

    private func talk(_ client: RTMClient, _ events: RTMEvents) async throws {
        let input = try StandardInput()
        var output = common.output
        output.transcript.showsChannel = false
        output.clearsTypedRow = !common.json && input.isTerminal && ConsoleStream.output.isTerminal
        let chat = Chat(client: client, channel: channel, output: output)
        try await greet(output, client)
        _ = try await race({ try await chat.read(input) }, { try await chat.output.show(events) })
    }

    private func greet(_ output: Output, _ client: RTMClient) async throws {
        let userID = client.configuration.userID
        switch output.format {
        case .human:
            try await output.remark("you are \(userID) in \(channel); /who lists who is here, /quit leaves")
        case .json: try await output.result(nil, "subscribed", ["channels": [.string(channel)]])
        }
    }
}
