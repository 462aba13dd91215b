package import Foundation
import RTMCryptography

/// Encrypts what one client sends. Pure: it is given randomness.
package struct Sealer: Sendable {
    /// Limit: channels whose keys are remembered. Deriving one again takes a few microseconds.
    private static let keysMax = 512

    private let appID: String
    /// `nil` until something is encrypted.
    private var sender: SenderID?
    private var counter: NonceCounter
    private var keys = RecentTable<SenderChannel, SenderKey>(capacity: keysMax)

    package init(appID: String) { self.init(appID: appID, sender: nil, counter: NonceCounter()) }

    /// Continues with a sender, which only tests do: no two sealers may have the same one.
    init(appID: String, sender: SenderID?, counter: NonceCounter) {
        self.appID = appID
        self.sender = sender
        self.counter = counter
    }

    /// - Returns: header, ciphertext and tag.
    package mutating func seal(
        _ payload: MessagePayload, at context: ContentContext, with key: EncryptionKey,
        random: inout some RandomNumberGenerator
    ) -> Data {
        let (sender, counter) = next(&random)
        let header = SealHeader(mode: key.mode, of: payload, keyID: key.id, sender: sender, counter: counter)
        let senderKey = senderKey(of: key, header, context)
        let additionalData = context.additionalData(after: header, appID: appID)
        let body = AESGCM.seal(
            payload.bytes, with: senderKey.key, nonce: senderKey.nonce(counter), context: additionalData)
        var sealed = Data(capacity: SealHeader.byteCount + body.count)
        additionalData.withUnsafeBytes { bytes in
            sealed.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<SealHeader.byteCount]))
        }
        sealed.append(contentsOf: body)
        return sealed
    }

    /// The sender and a number that it hasn't used. A sender that has used all its numbers is replaced.
    private mutating func next(_ random: inout some RandomNumberGenerator) -> (SenderID, UInt32) {
        if let sender, let number = counter.take() { return (sender, number) }
        let sender = SenderID.random(using: &random)
        self.sender = sender
        counter = NonceCounter(startingAt: 1)
        return (sender, 0)
    }

    private mutating func senderKey(
        of key: EncryptionKey, _ header: SealHeader, _ context: ContentContext
    ) -> SenderKey {
        let channel = SenderChannel(header, context)
        if let known = keys.value(of: channel) { return known }
        let derived = KeySchedule.senderKey(of: key, header.sender, context.channelType, context.channelName)
        keys.put(derived, for: channel)
        return derived
    }
}

extension MessagePayload {
    var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        }
    }
}

/// Numbers the contents that one sender encrypts. No number comes twice. Pure.
struct NonceCounter: Sendable {
    /// Limit: contents under one sender id. The next one begins a new sender id. AES-GCM stays far from its
    /// bounds, even if each content has 32 KiB.
    static let contentsMax: UInt64 = 1 << 32

    private var next: UInt64

    init(startingAt first: UInt64 = 0) { next = first }

    /// `nil` if all numbers are used up.
    mutating func take() -> UInt32? {
        guard next < Self.contentsMax else { return nil }
        defer { next += 1 }
        return UInt32(next)
    }
}

/// Remembers the values that were used lately. Pure.
///
/// There are two generations. When the younger one is full it becomes the older one, and what the older one
/// still has is forgotten. So at least the last `capacity` values stay, and a look-up costs no bookkeeping.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var younger: [Key: Value] = [:]
    private var older: [Key: Value] = [:]

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { younger.count + older.count }

    /// `nil` if the value was never there, or is forgotten.
    mutating func value(of key: Key) -> Value? {
        if let value = younger[key] { return value }
        guard let value = older[key] else { return nil }
        put(value, for: key)
        return value
    }

    mutating func put(_ value: Value, for key: Key) {
        if younger.count >= capacity, younger[key] == nil {
            older = younger
            younger = [:]
        }
        older[key] = nil
        younger[key] = value
    }
}
