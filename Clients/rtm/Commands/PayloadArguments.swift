import ArgumentParser
import Foundation
import RTMClient

/// What to publish: a text, a file or standard input, as text or as bytes.
struct PayloadArguments: ParsableArguments {
    /// Limit: bytes that are read before they are refused. A message carries far less (L-20), so the refusal
    /// can name the true length of any input that was meant as one.
    static let inputBytesMax = 1024 * 1024

    @Argument(help: "The text; '-' reads standard input to its end.")
    var text: String?

    @Option(help: .init("Publish the contents of a file.", valueName: "path"))
    var file: String?

    @Flag(
        name: .shortAndLong,
        help: "Publish each line of standard input as a message, as soon as the line is there.")
    var lines = false

    @Flag(help: "Publish as binary data instead of as text.")
    var binary = false

    @Option(help: "Custom type: a mark that the app chooses, at most 32 bytes.")
    var customType = ""

    @Flag(help: "Store the message; 'rtm history' finds it.")
    var history = false

    @Option(help: "A name of your own for this message. When the command is repeated, it is published once.")
    var id: String?

    @Option(
        help: .init(
            "Keep the message in this file until it is published, and publish first what waits there.",
            valueName: "path"))
    var outbox: String?

    func validate() throws {
        if lines, text != nil || file != nil {
            throw ValidationError("--lines reads standard input: give neither a TEXT nor --file")
        }
        if text == nil, file == nil, !lines {
            throw ValidationError("a TEXT, '-', --lines or --file is needed")
        }
        if id != nil, lines || outbox != nil {
            throw ValidationError("--id names one message: give neither --lines nor --outbox")
        }
        if text != nil, file != nil { throw ValidationError("give either a TEXT or --file") }
    }
}

extension PayloadArguments {
    /// - Throws: `.invalidParameter` (-10014) when the file can't be read,
    ///   `.channelMessageLengthExceedLimitation` (-11010) when it is too long, `.channelInvalidMessage`
    ///   (-11009) when it is not text.
    func payload() throws(RTMError) -> MessagePayload {
        try Self.payload(of: contents(), asBinary: binary)
    }

    static func payload(of contents: Data, asBinary: Bool) throws(RTMError) -> MessagePayload {
        guard contents.count <= inputBytesMax else {
            throw RTMError(
                .channelMessageLengthExceedLimitation,
                "there is more than 1 MiB to publish, \(Limits.messageBytesMax) bytes are allowed",
                operation: "publish",
                limit: .init(name: "message bytes", value: UInt64(Limits.messageBytesMax)))
        }
        if asBinary { return .data(contents) }
        guard let text = String(validating: contents, as: UTF8.self) else {
            throw RTMError(
                .channelInvalidMessage,
                "the contents are not UTF-8 text; --binary publishes them as they are",
                operation: "publish")
        }
        return .text(text)
    }

    private func contents() throws(RTMError) -> Data {
        do {
            if let file {
                let handle = try FileHandle(forReadingFrom: URL(filePath: file))
                return try Self.read(handle)
            }
            guard let text, text != "-" else { return try Self.read(.standardInput) }
            return Data(text.utf8)
        } catch {
            let source = file.map { "the file '\($0)'" } ?? "standard input"
            throw RTMError(.invalidParameter, "\(source) can't be read", operation: "publish")
        }
    }

    /// Reads to the end, or just beyond the limit.
    private static func read(_ handle: FileHandle) throws -> Data {
        var contents = Data()
        while contents.count <= inputBytesMax, let part = try handle.read(upToCount: 64 * 1024), !part.isEmpty
        {
            contents += part
        }
        return contents
    }
}
