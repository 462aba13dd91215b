// End-to-end encryption where a client meets the wire: what the app sends is sealed just before it becomes a
// request, and what arrives is opened as soon as it is read. Everything between, such as rosters and the
// cache of own states, holds plain values, and the server never sees one (E-2, E-3).

import Foundation
import Logging
import NIOCore
public import RTMModel

/// The keys of one client and what was sealed and opened with them, confined to the link's event loop.
final class Encryption {
    let userID: String
    private let events: EventOutlet
    private let logger: Logger
    private var keys: [EncryptionKey]
    private var sealer: Sealer
    private var opener: Opener
    private var random = SystemRandomNumberGenerator()

    /// - Returns: `nil` if the client has no keys. Then nothing is encrypted.
    init?(_ configuration: RTMClient.Configuration, events: EventOutlet, logger: Logger) {
        guard !configuration.encryptionKeys.isEmpty else { return nil }
        userID = configuration.userID
        self.events = events
        self.logger = logger
        keys = configuration.encryptionKeys
        sealer = Sealer(appID: configuration.appID)
        opener = Opener(appID: configuration.appID)
    }

    func use(_ keys: [EncryptionKey]) { self.keys = keys }

    /// The key that seals.
    var keyID: EncryptionKey.ID? { keys.first?.id }

    // MARK: Sealing

    /// Seals with the first key.
    func seal(
        _ payload: MessagePayload, at context: ContentContext, for operation: Operation
    ) throws(RTMError) -> Data {
        guard let key = keys.first else { throw .sealingFailed("there is no key", operation) }
        return sealer.seal(payload, at: context, with: key, random: &random)
    }

    // MARK: Opening

    func openDelivered(_ sealed: Data, at context: ContentContext) -> Result<
        MessagePayload, DecryptionFailure
    > {
        Result { () throws(DecryptionFailure) in try opener.openDelivered(sealed, at: context, with: keys) }
    }

    func openStored(_ sealed: Data, at context: ContentContext) -> Result<MessagePayload, DecryptionFailure> {
        Result { () throws(DecryptionFailure) in try opener.openStored(sealed, at: context, with: keys) }
    }

    /// Opens a value that travels as a text.
    func openText(_ sealed: Data?, at context: ContentContext) -> Result<String, DecryptionFailure> {
        guard let sealed else { return .failure(DecryptionFailure(.notEncrypted)) }
        return openStored(sealed, at: context).map { payload in
            switch payload {
            case .text(let text): text
            case .data(let data): String(decoding: data, as: UTF8.self)
            }
        }
    }

    // MARK: Reporting

    /// Reports to the app what could not be decrypted (E-4).
    func report(_ event: UndecryptableEvent) {
        logger.debug(
            "a content could not be decrypted",
            metadata: [
                "channel": "\(event.channelName)", "publisher": "\(event.publisher ?? "")",
                "reason": "\(event.failure.reason)", "key": "\(event.failure.keyID?.description ?? "")",
            ])
        events.emit(
            .undecryptable(event), of: ChannelID(type: event.channelType, name: event.channelName))
    }
}

extension RTMError {
    /// Something could not be encrypted, and so was not sent (E-5).
    static func sealingFailed(_ cause: String, _ operation: Operation) -> RTMError {
        RTMError(
            operation == .publish ? .channelEncryptMessageFailed : operation.codes.failed,
            "the content could not be encrypted: \(cause)", operation: operation.rawValue)
    }
}

extension RTMClient {
    /// Replaces the keys of a client that encrypts: from the next call on it encrypts with the first one, and
    /// decrypts with any of them.
    ///
    /// To change a key, first give all clients the new one as the second key, then as the first key, and
    /// take the old one away when nothing is left that was encrypted with it. In this way everybody can read
    /// everything at all times.
    ///
    /// - Throws: `.invalidEncryptionParameter` (-10020) without a key, for a key that occurs twice, for more
    ///   than 16 keys, and if the configuration had no key: whether a client encrypts, it says at its
    ///   beginning.
    public func useEncryptionKeys(_ keys: [EncryptionKey]) throws(RTMError) {
        let operation = "useEncryptionKeys"
        guard !configuration.encryptionKeys.isEmpty, !keys.isEmpty else {
            throw RTMError(
                .invalidEncryptionParameter,
                keys.isEmpty
                    ? "there is no encryption key" : "the client was made without encryption keys",
                operation: operation)
        }
        try EncryptionKey.check(keys, operation: operation)
        eventLoop.execute { [link] in link.value.encryption?.use(keys) }
    }
}

extension Encryption {
    /// The message as it travels: its bytes are the sealed content, whatever the app has given.
    func seal(_ message: OutgoingMessage) throws(RTMError) -> OutgoingMessage {
        let context = ContentContext(message.destination, publisher: userID, customType: message.customType)
        var sealed = message
        sealed.payload = .data(try seal(message.payload, at: context, for: .publish))
        return sealed
    }

    /// Opens a message that was delivered.
    ///
    /// - Returns: `nil` if it can't be decrypted. Then it is left out, and reported.
    func open(_ event: MessageEvent) -> MessageEvent? {
        let context = ContentContext(
            .message, event.channelType, event.channelName, publisher: event.publisher,
            item: event.customType)
        switch openDelivered(event.payload.bytes, at: context) {
        case .success(let payload):
            var event = event
            event.payload = payload
            return event
        case .failure(let failure):
            report(
                UndecryptableEvent(
                    content: .message, failure: failure, channelType: event.channelType,
                    channelName: event.channelName, publisher: event.publisher))
            return nil
        }
    }

    /// Opens a page of stored messages. What can't be decrypted is empty and says why, and the rest of the
    /// page stays readable (H-13).
    func open(_ page: HistoryPage, of source: MessageDestination) -> HistoryPage {
        var page = page
        for index in page.messages.indices {
            let message = page.messages[index]
            let context = ContentContext(source, publisher: message.publisher, customType: message.customType)
            switch openStored(message.payload.bytes, at: context) {
            case .success(let payload): page.messages[index].payload = payload
            case .failure(let failure):
                page.messages[index].payload = .data(Data())
                page.messages[index].decryptionFailure = failure
            }
        }
        return page
    }
}

extension ContentContext {
    fileprivate init(_ destination: MessageDestination, publisher: String, customType: String) {
        switch destination {
        case .channel(let name):
            self.init(.message, .message, name, publisher: publisher, item: customType)
        case .user(let id): self.init(.message, .user, id, publisher: publisher, item: customType)
        case .topic(let topic, let channel):
            let name = TopicName(topic, in: channel).text
            self.init(.message, .topic, name, publisher: publisher, item: customType)
        }
    }
}

// Values of states and of metadata items. They travel as texts, so what is sealed is written in base64.

extension Encryption {
    // MARK: States

    func seal(_ states: [String: String], in channel: ChannelID) throws(RTMError) -> [String: String] {
        var sealed: [String: String] = [:]
        for (key, value) in states {
            let context = ContentContext(.state, channel.type, channel.name, publisher: userID, item: key)
            sealed[key] = try seal(.text(value), at: context, for: .setState).base64EncodedString()
        }
        return sealed
    }

    func open(_ users: [UserState], in channel: ChannelID) -> [UserState] {
        var failures = FailureTally()
        let opened = users.map { open($0, in: channel, &failures) }
        for event in failures.events(.state, channel.type, channel.name) { report(event) }
        return opened
    }

    func open(_ user: UserState, in channel: ChannelID) -> UserState {
        open([user], in: channel).first ?? user
    }

    /// Opens the states that an event shows.
    func open(_ change: PresenceUpdate.Change, in channel: ChannelID) -> PresenceUpdate.Change {
        switch change {
        case .states(let change): return .states(open([change], in: channel).first ?? change)
        case .interval(var interval):
            interval.states = open(interval.states, in: channel)
            return .interval(interval)
        case .joined, .joinedWithStates, .left, .timedOut: return change
        }
    }

    private func open(
        _ changes: [PresenceUpdate.StateChange], in channel: ChannelID
    ) -> [PresenceUpdate.StateChange] {
        let users = open(changes.map { UserState(userID: $0.userID, states: $0.items) }, in: channel)
        return zip(changes, users).map { change, user in
            var change = change
            change.items = user.states
            return change
        }
    }

    private func open(
        _ user: UserState, in channel: ChannelID, _ failures: inout FailureTally
    ) -> UserState {
        var opened = user
        for (key, value) in user.states {
            let context = ContentContext(
                .state, channel.type, channel.name, publisher: user.userID, item: key)
            switch openText(Data(base64Encoded: value), at: context) {
            case .success(let text): opened.states[key] = text
            case .failure(let failure):
                opened.states[key] = ""
                failures.add(failure, user.userID)
            }
        }
        return opened
    }

    // MARK: Metadata

    /// Seals what a write sets. A reader may not learn from the server who wrote an item (D-11), so the
    /// writer's name travels with the value. It is authenticated like every publisher.
    func seal(_ write: MetadataWrite) throws(RTMError) -> MetadataWrite {
        guard write.kind == .set || write.kind == .update else { return write }
        var sealed = write
        for index in write.items.indices {
            let item = write.items[index]
            let context = ContentContext(write.target, author: userID, key: item.key)
            let value = try seal(.text(item.value), at: context, for: write.operation)
            sealed.items[index].value = AuthoredContent(author: userID, sealed: value).text
        }
        return sealed
    }

    func open(_ metadata: RTMMetadata, of target: MetadataTarget) -> RTMMetadata {
        var failures = FailureTally()
        var opened = metadata
        for index in metadata.items.indices {
            switch open(metadata.items[index], of: target) {
            case .success(let value): opened.items[index].value = value
            case .failure(let failure):
                opened.items[index].value = ""
                opened.items[index].decryptionFailure = failure
                failures.add(failure, nil)
            }
        }
        for event in failures.events(.metadata, target.channelType, target.name) { report(event) }
        return opened
    }

    private func open(_ item: MetadataItem, of target: MetadataTarget) -> Result<String, DecryptionFailure> {
        guard let content = AuthoredContent(item.value) else {
            return .failure(DecryptionFailure(.notEncrypted))
        }
        let context = ContentContext(target, author: content.author, key: item.key)
        return openText(content.sealed, at: context).flatMap { value in
            // The server may name no author, but not another one.
            guard let author = item.author, author != content.author else { return .success(value) }
            return .failure(DecryptionFailure(.notAuthentic))
        }
    }
}

extension ContentContext {
    fileprivate init(_ target: MetadataTarget, author: String, key: String) {
        self.init(.metadata, target.channelType, target.name, publisher: author, item: key)
    }
}

/// A sealed metadata value together with who wrote it: the length of the user id, the id, and the value.
/// Pure.
struct AuthoredContent: Sendable, Hashable {
    var author: String
    var sealed: Data

    init(author: String, sealed: Data) {
        self.author = author
        self.sealed = sealed
    }

    var text: String {
        var bytes = Data([UInt8(truncatingIfNeeded: author.utf8.count)])
        bytes.append(contentsOf: author.utf8)
        bytes.append(sealed)
        return bytes.base64EncodedString()
    }

    /// `nil` for a text that no client has made.
    init?(_ text: String) {
        guard let bytes = Data(base64Encoded: text), let length = bytes.first,
            bytes.count > Int(length)
        else { return nil }
        author = String(decoding: bytes.dropFirst().prefix(Int(length)), as: UTF8.self)
        sealed = bytes.dropFirst(1 + Int(length))
    }
}

/// Collects what of one frame can't be decrypted, so that a big snapshot doesn't become thousands of events.
/// Pure.
struct FailureTally: Sendable {
    private var counts: [DecryptionFailure: (count: Int, publisher: String?)] = [:]
    private var order: [DecryptionFailure] = []

    mutating func add(_ failure: DecryptionFailure, _ publisher: String?) {
        guard let before = counts[failure] else {
            counts[failure] = (1, publisher)
            return order.append(failure)
        }
        counts[failure] = (before.count + 1, before.publisher == publisher ? publisher : nil)
    }

    func events(
        _ content: UndecryptableEvent.Content, _ type: ChannelType, _ name: String
    ) -> [UndecryptableEvent] {
        order.map { failure in
            UndecryptableEvent(
                content: content, failure: failure, count: counts[failure]?.count ?? 0, channelType: type,
                channelName: name, publisher: counts[failure]?.publisher)
        }
    }
}
