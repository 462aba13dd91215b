public import Foundation
import NIOCore
import NIOPosix
public import RTMModel

/// Messages that a file keeps until the server has published them, over losses of the link and restarts of
/// the app.
///
/// ```swift
/// let outbox = try await client.openOutbox(at: file)
/// try await client.login()
/// let message = try await outbox.publish("hello", to: .channel("lobby"))
/// for await case .outbox(let event) in events { … event.message.id, event.outcome … }
/// ```
///
/// The messages to one channel or user are published in the order in which they were given, each once. A
/// message has one of three ends, which ``RTMEvent/outbox(_:)`` reports: published, refused for good, or
/// unknown. The last one only happens to a message that was under way when the app or its connection ended,
/// and that the server doesn't know any more: a channel's log has about the latest two minutes, less of a
/// very busy channel.
///
/// One message at a time is under way to each destination, and a write to the disk comes before it. So an
/// outbox is for what people do, and not for a stream of data.
///
/// The file holds the messages as the app gave them, also where the client
/// [encrypts](<doc:EndToEndEncryption>). Only the user of the system may read it.
public struct RTMOutbox: Sendable {
    let client: RTMClient
    let origin: UInt64

    /// Gives a text to the outbox. The call returns when the file has the message, with or without a
    /// connection.
    ///
    /// - Parameters:
    ///   - customType: a mark of the app's own, at most 32 bytes of printable ASCII (L-10).
    ///   - storeInHistory: whether the message is kept for later queries (M-27).
    /// - Throws: `.channelPublishMessageTooFrequent` (-11025) with the limit of an outbox that is full,
    ///   `.channelPublishMessageFailed` (-11024) if the file can't be written, `.invalidChannelType`
    ///   (-10019) for a topic, whose messages are for those who are there now, `.instanceAlreadyReleased`
    ///   (-10018) after `close()`; and for what is wrong with the message itself what
    ///   ``RTMClient/publish(_:to:customType:storeInHistory:id:)-(String,_,_,_,_)`` throws.
    @discardableResult
    public func publish(
        _ text: String, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) async throws(RTMError) -> OutboxMessage {
        try await publish(
            .text(text), to: destination, customType: customType, storeInHistory: storeInHistory)
    }

    /// Gives bytes to the outbox. See ``publish(_:to:customType:storeInHistory:)-(String,_,_,_)``.
    @discardableResult
    public func publish(
        _ data: Data, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) async throws(RTMError) -> OutboxMessage {
        try await publish(
            .data(data), to: destination, customType: customType, storeInHistory: storeInHistory)
    }

    /// Gives a text or bytes to the outbox. See
    /// ``publish(_:to:customType:storeInHistory:)-(String,_,_,_)``.
    @discardableResult
    public func publish(
        _ payload: MessagePayload, to destination: MessageDestination, customType: String = "",
        storeInHistory: Bool = false
    ) async throws(RTMError) -> OutboxMessage {
        let message = OutgoingMessage(
            payload: payload, destination: destination, customType: customType, storeInHistory: storeInHistory
        )
        let size = client.configuration.contentSize
        try client.check(.outbox) { () throws(RTMError) in
            if case .topic = destination {
                throw RTMError(.invalidChannelType, "an outbox keeps messages to channels and users")
            }
            try message.check(size)
        }
        return try await perform { outbox, completion in outbox.publish(message, completion) }
    }

    /// The messages that have no end yet, in the order in which they were given. An app that shows the state
    /// of its messages asks this when it starts: what isn't here any more has had its end.
    ///
    /// - Throws: `.instanceAlreadyReleased` (-10018) after `close()`.
    public func waiting() async throws(RTMError) -> [OutboxMessage] {
        try await perform { outbox, completion in completion.succeed(outbox.waiting) }
    }

    /// Takes a message back that was not sent yet.
    ///
    /// - Returns: false if it was sent or has had its end. Then it is published, or may be.
    /// - Throws: `.channelPublishMessageFailed` (-11024) if the file can't be written: this client will not
    ///   send the message, and the one after a restart may. `.instanceAlreadyReleased` (-10018) after
    ///   `close()`.
    public func takeBack(_ id: OutboxMessage.ID) async throws(RTMError) -> Bool {
        try await perform { outbox, completion in outbox.takeBack(id, completion) }
    }

    /// Waits until every message has had its end and the file says so, as before a logout or at the end of a
    /// program.
    ///
    /// - Throws: `.instanceAlreadyReleased` (-10018) after `close()`, `.channelPublishMessageFailed` (-11024)
    ///   if the file can't be written or the waiting task is cancelled.
    public func waitUntilEmpty() async throws(RTMError) {
        try await perform { (outbox, completion: Completion<Void>) in outbox.waitUntilEmpty(completion) }
    }

    private func perform<Answer: Sendable>(
        _ call: @escaping @Sendable (Outbox, Completion<Answer>) -> Void
    ) async throws(RTMError) -> Answer {
        try await client.perform(.outbox) { [origin] link, completion in
            guard let outbox = link.outbox, outbox.isOpen, outbox.origin == origin else {
                return completion.fail(.outboxIsClosed)
            }
            call(outbox, completion)
        }
    }

    /// Closes the file and sends nothing more. What waits is sent by whoever opens the file next. The client
    /// does this by itself when it is closed or released.
    public func close() async {
        await withCheckedContinuation { continuation in
            client.eventLoop.execute { [link = client.link, origin] in
                guard let outbox = link.value.outbox, outbox.origin == origin else {
                    return continuation.resume()
                }
                outbox.close { continuation.resume() }
            }
        }
    }
}

extension RTMClient {
    /// Opens an outbox, or makes a new one. What waits in it is sent as soon as the client is logged in. A
    /// client has one outbox at a time.
    ///
    /// The file must be for this user alone, and where the system may end the app without taking its files:
    /// on Apple's platforms in the folder for application support, not in a container that several apps
    /// share. There it is kept out of backups.
    ///
    /// - Parameters:
    ///   - file: where it lies. Its folder exists.
    ///   - messagesMax: how many messages may wait, 1…100,000.
    ///   - bytesMax: how many bytes of payload may wait, 1…1 GiB.
    /// - Throws: `.invalidParameter` (-10014) for a number out of its range, a URL that names no file, or a
    ///   file that isn't an outbox of this user of this app, `.duplicateOperation` (-10017) if the file is
    ///   open already or this client has an outbox, `.initServiceFailed` (-10007) if the file can't be read
    ///   and written, `.instanceAlreadyReleased` (-10018) after `close()`.
    public func openOutbox(
        at file: URL, messagesMax: Int = 1_000, bytesMax: Int = 4 * 1_024 * 1_024
    ) async throws(RTMError) -> RTMOutbox {
        guard (1...100_000).contains(messagesMax), (1...1_073_741_824).contains(bytesMax) else {
            throw RTMError(
                .invalidParameter, "an outbox holds 1 to 100,000 messages and 1 byte to 1 GiB of payload")
        }
        guard file.isFileURL else { throw RTMError(.invalidParameter, "\(file) names no file") }
        let owner = OutboxOwner(app: configuration.appID, user: configuration.userID)
        // In virtual time nothing may happen on another thread.
        let isVirtual = watch != nil
        let opened: Result<(OutboxFile, OutboxContent), RTMError>
        do {
            let path = file.resolvingSymlinksInPath().path
            opened = try await NIOThreadPool.singleton.runIfActive {
                Result { () throws(RTMError) in try OutboxFile.open(path, owner: owner) }
            }
        } catch {
            throw RTMError(.initServiceFailed, "there is no thread for files: \(error)")
        }
        let (outboxFile, content) = try opened.get()
        let origin = try await perform(.outbox) { (link, completion: Completion<UInt64>) in
            guard !link.session.isClosed else {
                outboxFile.close()
                return completion.fail(.released)
            }
            guard link.outbox?.isClosed ?? true else {
                outboxFile.close()
                return completion.fail(.duplicateOperation, "the client has an outbox already")
            }
            let limits = OutboxQueue.Limits(messagesMax: messagesMax, bytesMax: bytesMax)
            let outbox = Outbox(
                session: link.session, requests: link.requests, messages: link.messages, events: link.events,
                eventLoop: link.eventLoop, origin: link.randomOrigin(), outboxFile, content, limits: limits
            ) { work in
                if isVirtual { work() } else { NIOThreadPool.singleton.submit { _ in work() } }
            }
            link.outbox = outbox
            outbox.advance()
            completion.succeed(outbox.origin)
        }
        return RTMOutbox(client: self, origin: origin)
    }
}

extension RTMError {
    static let outboxIsClosed = RTMError(.instanceAlreadyReleased, "the outbox is closed")
}
