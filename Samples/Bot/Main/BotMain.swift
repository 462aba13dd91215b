import BotSample
import Foundation
import RTMClient

/// `RTM_SERVER=rtm.example.com RTM_CHANNEL=lobby sample-bot` answers in the channel until it is ended.
@main
struct BotMain {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let server = try environment["RTM_SERVER"].map { try ServerAddress($0) } ?? .local
        var configuration = RTMClient.Configuration(
            servers: [server], appID: environment["RTM_APP_ID"] ?? "dev",
            userID: environment["RTM_USER"] ?? "bot")
        configuration.token = environment["RTM_TOKEN"]
        try await Bot(configuration, channel: environment["RTM_CHANNEL"] ?? "lobby").run()
    }
}
