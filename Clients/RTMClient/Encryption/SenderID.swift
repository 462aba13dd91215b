import Foundation

/// The random name of one sender.
struct SenderID: Sendable, Hashable {
    var high: UInt64
    var low: UInt64

    static func random(using random: inout some RandomNumberGenerator) -> SenderID {
        SenderID(high: random.next(), low: random.next())
    }

    var bytes: Data {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) }
    }
}

/// One sender in one channel, under one key.
struct SenderChannel: Sendable, Hashable {
    let keyID: EncryptionKey.ID
    let sender: SenderID
    let channelType: UInt8
    let channelName: String

    init(_ header: SealHeader, _ place: ContentPlace) {
        keyID = header.keyID
        sender = header.sender
        channelType = UInt8(truncatingIfNeeded: place.channelType.rawValue)
        channelName = place.channelName
    }
}
