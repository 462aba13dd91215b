package import Foundation
import RTMCryptography

/// Decrypts what others have sent, and refuses what was moved, changed or delivered before. Pure.
///
/// What "delivered before" means depends on how a content arrives:
/// - A message that is delivered comes once. When a subscription is resumed the server continues after what
///   this client has seen, so no message has a reason to come again, and one that does is refused.
/// - A message of the history, a state and a metadata item are read as often as somebody asks. Only their
///   context is checked.
package struct Opener: Sendable {
    /// Limit: senders whose keys are remembered at least. Deriving one again takes a few microseconds.
    static let keysMax = 1024
    /// Limit: senders whose delivered messages are remembered at least. Of others that were silent for longer
    /// an earlier message could be delivered again.
    static let windowsMax = 4096

    private let appID: String
    private var keys = RecentTable<SenderChannel, SenderKey>(capacity: keysMax)
    private var windows = RecentTable<SenderChannel, ReplayWindow>(capacity: windowsMax)

    package init(appID: String) { self.appID = appID }

    /// Decrypts a message that is delivered. It is refused the second time.
    package mutating func openDelivered(
        _ sealed: Data, at context: ContentContext, with keys: [EncryptionKey]
    ) throws(DecryptionFailure) -> MessagePayload {
        let (payload, header) = try open(sealed, context, keys)
        // Only what is authentic is remembered. Otherwise a forgery could make a message look delivered.
        let channel = SenderChannel(header, context)
        var window = windows.value(of: channel)
        let isNew = window?.accepts(header.counter) ?? true
        windows.put(window ?? ReplayWindow(first: header.counter), for: channel)
        guard isNew else { throw DecryptionFailure(.replayed, header.keyID) }
        return payload
    }

    /// Decrypts what may be read several times.
    package mutating func openStored(
        _ sealed: Data, at context: ContentContext, with keys: [EncryptionKey]
    ) throws(DecryptionFailure) -> MessagePayload {
        try open(sealed, context, keys).payload
    }

    private mutating func open(
        _ sealed: Data, _ context: ContentContext, _ ring: [EncryptionKey]
    ) throws(DecryptionFailure) -> (payload: MessagePayload, header: SealHeader) {
        let header = try SealHeader(decoding: sealed)
        guard let key = ring.first(where: { $0.id == header.keyID && $0.mode == header.mode }) else {
            throw DecryptionFailure(.unknownKey, header.keyID)
        }
        let channel = SenderChannel(header, context)
        let known = keys.value(of: channel)
        let senderKey =
            known ?? KeySchedule.senderKey(of: key, header.sender, context.channelType, context.channelName)
        let plain = AESGCM.open(
            SealedContent.body(of: sealed), with: senderKey.key, nonce: senderKey.nonce(header.counter),
            context: context.additionalData(after: header, appID: appID))
        guard let plain else {
            throw DecryptionFailure(.notAuthentic, header.keyID)
        }
        // Who has no key can't make this client forget the senders that it knows.
        if known == nil { keys.put(senderKey, for: channel) }
        return (header.isText ? .text(String(decoding: plain, as: UTF8.self)) : .data(Data(plain)), header)
    }
}

/// Which contents of one sender in one channel have been delivered. Pure.
///
/// The server delivers what one client publishes in its order, so a counter that was there, or that lies far
/// behind the newest one, belongs to a message that was delivered before. Counters that are left out mean
/// nothing: the sender counts what it sends to all channels together.
struct ReplayWindow: Sendable {
    /// How far behind the newest message one may come.
    static let width: UInt32 = 64

    private var newest: UInt32
    /// Bit n stands for the counter `newest` - n.
    private var seen: UInt64 = 1

    init(first: UInt32) { newest = first }

    /// Whether the content is new. It is remembered.
    mutating func accepts(_ counter: UInt32) -> Bool {
        if counter > newest {
            let step = counter - newest
            seen = step < Self.width ? seen << step | 1 : 1
            newest = counter
            return true
        }
        let age = newest - counter
        guard age < Self.width, seen & 1 << age == 0 else { return false }
        seen |= 1 << age
        return true
    }
}
