import ArgumentParser
import RTMModel

/// `rtm`: the system from a shell. A subcommand logs in as one user, does one thing and leaves. `token` needs
/// no server at all.
@main
struct RTMCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rtm",
        abstract: "Publish, subscribe and chat over a real-time messaging server.",
        discussion: """
            Without options a command talks to a standalone stack on this machine (127.0.0.1:7710, \
            app id 'dev') as a guest with a random name.

            ENVIRONMENT (an option wins over its variable, and a variable over the context in use)
              RTM_SERVER      HOST:PORT, several separated by commas
              RTM_APP_ID      app id
              RTM_USER        user id
              RTM_TOKEN       token; RTM_TOKEN_FILE names a file that holds it
              RTM_CONTEXT     context to use; 'rtm context' keeps them
              RTM_CERTIFICATE the app's certificate, for the commands about tokens;
                              RTM_CERTIFICATE_FILE names a file that holds it
              RTM_GATEWAY     URL of the gateway, for the commands that call over HTTP
              RTM_API_KEY     their API key; RTM_API_KEY_FILE names a file that holds it
              NO_COLOR        if set, no colours

            EXIT STATUS
              0    done; for subscribe, chat, watch and event tail also when interrupted
              1    the call failed; the cause is on standard error. token explain, webhook verify: a check
                   fails. webhook test: the receiver has not taken it
              2    subscribe, stream join: the time given with --timeout is over
                   (lock acquire -- COMMAND: what the command ends with)
              64   the command line can't be understood
              130  interrupted before the work was done

            SHELLS complete commands and options after 'make install', or with the script that
            --generate-completion-script bash, zsh or fish prints.

            DURATIONS are a number and a unit: 500ms, 10s, 2m, 1h.
            """,
        version: Release.version,
        subcommands: [
            DevCommand.self, SubscribeCommand.self, PublishCommand.self, SendCommand.self, ChatCommand.self,
            PingCommand.self,
            PresenceCommand.self, MetadataCommand.self, LockCommand.self, HistoryCommand.self,
            StreamCommand.self, BenchCommand.self, VerifyCommand.self, TokenCommand.self, KeyCommand.self,
            ChannelCommand.self, UserCommand.self, ConnectionCommand.self, UsageCommand.self,
            TopCommand.self, AuditCommand.self, NodeCommand.self, EventCommand.self, WebhookCommand.self,
            ExplainCommand.self,
            ContextCommand.self,
            DoctorCommand.self,
        ])

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let refusal = CommandName.refusal(of: arguments, in: Self.self) { exit(withError: refusal) }
        await main(arguments)
    }
}
