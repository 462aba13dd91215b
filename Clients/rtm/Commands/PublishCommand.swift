import ArgumentParser
import Foundation
import RTMClient

struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Publish a message to all subscribers of a channel.",
        discussion: """
            A text that begins with '-' goes behind '--'. When the server says that messages come too fast, \
            the command waits as long as it asks, and continues.

            With --outbox each message is on the disk before it is sent, and stays there until the server has it. \
            When there is no server, or the command is killed, the next command with the same user and outbox \
            continues where it ended: each message is published once, in order.
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
            if let file = message.outbox {
                return try await publish(message, to: destination, through: file)
            }
            guard !message.lines else {
                return try await withClient(settings(), naming: [destination.argument]) { client in
                    let count = try await message.eachLine { payload in
                        try await message.publish(payload, to: destination, by: client)
                    }
                    try await output.published(count, isMany: true)
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

extension Output {
    /// Writes that everything was published. Of many messages a person learns how many they were.
    func published(_ count: Int, isMany: Bool) async throws(OutputClosed) {
        if isMany { notice(count == 1 ? "1 message is published" : "\(count) messages are published") }
        try await result(isMany ? nil : "ok", "result", ["result": "ok", "published": .number(count)])
    }
}

extension PayloadArguments {
    func publish(
        _ payload: MessagePayload, to destination: MessageDestination, by client: RTMClient
    ) async throws {
        _ = try await respectingRates { () async throws(RTMError) in
            try await client.publish(
                payload, to: destination, customType: customType, storeInHistory: history, id: id)
        }
    }
}

extension PayloadArguments {
    /// The lines of standard input, each of them a message. The next line is published when the server, or
    /// the outbox, has the one before it.
    ///
    /// - Returns: how many lines were published.
    /// - Throws: what a line is refused with, and which line it was.
    func eachLine(_ publish: (MessagePayload) async throws -> Void) async throws -> Int {
        let input = try StandardInput()
        var splitter = LineSplitter()
        var count = 0
        func take(_ line: String) async throws {
            do {
                try await publish(binary ? .data(Data(line.utf8)) : .text(line))
                count += 1
            } catch var error as RTMError {
                error.reason = "line \(count + 1): \(error.reason)"
                throw error
            }
        }
        while let bytes = await input.next() {
            for line in try splitter.split(bytes) { try await take(line) }
        }
        try Task.checkCancellation()
        if let line = splitter.finish() { try await take(line) }
        return count
    }
}
