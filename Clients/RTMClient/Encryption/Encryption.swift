// End-to-end encryption where a client meets the wire: what the app sends is sealed just before it becomes a
// request, and what arrives is opened as soon as it is read. Everything between, such as rosters and the
// cache of own states, holds plain values, and the server never sees one (E-2, E-3).

import Foundation
import Logging
import NIOCore
public import RTMModel

/// The keys of one client and what was sealed and opened with them, confined to the link's event loop.
final class Encryption {
    private unowned let link: Link
    private var keys: [EncryptionKey]
    private var sealer: Sealer
    private var opener: Opener
    private var random = SystemRandomNumberGenerator()

    /// - Returns: `nil` if the client has no keys. Then nothing is encrypted.
    init?(_ link: Link) {
        guard !link.configuration.encryptionKeys.isEmpty else { return nil }
        self.link = link
        keys = link.configuration.encryptionKeys
        sealer = Sealer(appID: link.configuration.appID)
        opener = Opener(appID: link.configuration.appID)
    }

    var userID: String { link.configuration.userID }

    func use(_ keys: [EncryptionKey]) { self.keys = keys }

    // MARK: Sealing

    /// Seals with the first key.
    func seal(
        _ payload: MessagePayload, at place: ContentPlace, for operation: Operation
    ) throws(RTMError) -> Data {
        guard let key = keys.first else { throw .sealingFailed("there is no key", operation) }
        do {
            return try sealer.seal(payload, at: place, with: key, random: &random)
        } catch {
            throw .sealingFailed("\(error)", operation)
        }
    }

    // MARK: Opening

    func openDelivered(_ sealed: Data, at place: ContentPlace) -> Result<MessagePayload, DecryptionFailure> {
        Result { () throws(DecryptionFailure) in try opener.openDelivered(sealed, at: place, with: keys) }
    }

    func openStored(_ sealed: Data, at place: ContentPlace) -> Result<MessagePayload, DecryptionFailure> {
        Result { () throws(DecryptionFailure) in try opener.openStored(sealed, at: place, with: keys) }
    }

    /// Opens a value that travels as a text.
    func openText(_ sealed: Data?, at place: ContentPlace) -> Result<String, DecryptionFailure> {
        guard let sealed else { return .failure(DecryptionFailure(.notEncrypted)) }
        return openStored(sealed, at: place).map { payload in
            switch payload {
            case .text(let text): text
            case .data(let data): String(decoding: data, as: UTF8.self)
            }
        }
    }

    // MARK: Reporting

    /// Tells the app what could not be decrypted (E-4).
    func report(_ event: UndecryptableEvent) {
        link.logger.debug(
            "a content could not be decrypted",
            metadata: [
                "channel": "\(event.channelName)", "publisher": "\(event.publisher ?? "")",
                "reason": "\(event.failure.reason)", "key": "\(event.failure.keyID?.description ?? "")",
            ])
        link.events.emit(.undecryptable(event), of: event.channelName, event.channelType)
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
    /// To change a key, first give all clients the new one in the second place, then in the first place, and
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
