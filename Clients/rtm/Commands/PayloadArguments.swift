import ArgumentParser
import Foundation
import RTMClient

/// What to publish: a text, a file or standard input; as text or as bytes.
struct PayloadArguments: ParsableArguments {
    /// Limit: what is read before it is refused. A message carries far less (L-20); so the refusal can say
    /// the true length of anything that was meant to be one.
    static let inputBytesMax = 1024 * 1024

    @Argument(help: "The text; '-' reads standard input to its end.")
    var text: String?

    @Option(help: .init("Publish the contents of a file.", valueName: "path"))
    var file: String?

    @Flag(help: "Publish as binary data instead of as text.")
    var binary = false

    @Option(help: "A mark of the app's own, at most 32 bytes.")
    var customType = ""

    @Flag(help: "Store the message; 'rtm history' finds it.")
    var history = false

    func validate() throws {
        if text == nil, file == nil { throw ValidationError("a TEXT, '-' or --file is needed") }
        if text != nil, file != nil { throw ValidationError("give either a TEXT or --file") }
    }
}

extension PayloadArguments {
    /// - Throws: -10014 when the file can't be read, -11010 when there is too much of it, -11009 when it is
    ///   no text.
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

    /// To the end, or just beyond the limit.
    private static func read(_ handle: FileHandle) throws -> Data {
        var contents = Data()
        while contents.count <= inputBytesMax, let part = try handle.read(upToCount: 64 * 1024), !part.isEmpty
        {
            contents += part
        }
        return contents
    }
}
