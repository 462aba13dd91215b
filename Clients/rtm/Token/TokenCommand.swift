import ArgumentParser

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Make a token for an app that needs one, or see what is in a token.",
        discussion: """
            Both work without a server. App id, user and certificate come from their options, else from \
            RTM_APP_ID, RTM_USER and RTM_CERTIFICATE; RTM_CERTIFICATE_FILE names a file that holds the \
            certificate.
            """,
        subcommands: [TokenCreateCommand.self, TokenExplainCommand.self])
}
