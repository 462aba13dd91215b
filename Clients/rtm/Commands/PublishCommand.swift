import ArgumentParser
import RTMClient

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Publish a message to all subscribers of a channel.",
        discussion: "A text that begins with '-' goes behind '--'.")

    @Argument(help: "Name of the message channel.")
    var channel: String

    @OptionGroup var message: PayloadArguments
    @OptionGroup var common: CommonOptions

    func run() async throws { try await common.publish(message, to: .channel(channel)) }
}

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send a message to one user, who must be online.",
        discussion: "A text that begins with '-' goes behind '--'.")

    @Argument(help: "User id of the receiver.")
    var receiver: String

    @OptionGroup var message: PayloadArguments
    @OptionGroup var common: CommonOptions

    func run() async throws { try await common.publish(message, to: .user(receiver)) }
}

extension CommonOptions {
    fileprivate func publish(
        _ message: PayloadArguments, to destination: MessageDestination
    ) async throws {
        try await run {
            let payload = try message.payload()
            try await withClient(settings()) { client in
                try await client.publish(
                    payload, to: destination, customType: message.customType,
                    storeInHistory: message.history)
                try await output.result("ok")
            }
        }
    }
}
