import ArgumentParser
import Foundation
import RTMClient

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Publish a message to all subscribers of a channel.",
        discussion: """
            A text that begins with '-' goes behind '--'. When the server says that messages come too fast, \
            the command waits as long as it asks, and goes on.
            """)

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
            guard !message.lines else {
                return try await withClient(settings(), naming: [destination.argument]) { client in
                    let lines = PublishedLines(client: client, destination: destination, message: message)
                    try await output.result(nil, ["result": "ok", "published": .number(lines.publish())])
                }
            }
            let payload = try message.payload()
            try await withClient(settings(), naming: [destination.argument]) { client in
                try await message.publish(payload, to: destination, by: client)
                try await output.result("ok")
            }
        }
    }
}

extension PayloadArguments {
    func publish(
        _ payload: MessagePayload, to destination: MessageDestination, by client: RTMClient
    ) async throws {
        _ = try await respectingRates { () async throws(RTMError) in
            try await client.publish(
                payload, to: destination, customType: customType, storeInHistory: history)
        }
    }
}

/// The lines of standard input, each of them a message. The next line is published when the server has the
/// one before it.
private struct PublishedLines {
    let client: RTMClient
    let destination: MessageDestination
    let message: PayloadArguments

    /// - Returns: how many lines were published.
    /// - Throws: what a line is refused with, and which line it was.
    func publish() async throws -> Int {
        let input = try StandardInput()
        var splitter = LineSplitter()
        var count = 0
        while let bytes = await input.next() {
            for line in try splitter.split(bytes) { try await publish(line, &count) }
        }
        try Task.checkCancellation()
        if let line = splitter.finish() { try await publish(line, &count) }
        return count
    }

    private func publish(_ line: String, _ count: inout Int) async throws {
        do {
            let payload: MessagePayload = message.binary ? .data(Data(line.utf8)) : .text(line)
            try await message.publish(payload, to: destination, by: client)
            count += 1
        } catch var error as RTMError {
            error.reason = "line \(count + 1): \(error.reason)"
            throw error
        }
    }
}
