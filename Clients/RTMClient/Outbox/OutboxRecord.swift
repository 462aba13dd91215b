// The file of an outbox: lines of JSON, each behind a checksum. It is only ever appended to, so a crash can
// damage nothing but its end, and the end is what the checksum of each line finds.

import Crypto
import Foundation
import RTMModel

/// One line of an outbox's file. Pure.
enum OutboxRecord: Hashable {
    /// When a message was sent for the first time, and what the client knew of the server's logs then.
    struct Beginning: Hashable, Codable {
        /// By the server's clock, so that a device whose clock is set tells the right age after its restart.
        var atMilliseconds: UInt64
        /// That of the inbox; 0 is unknown.
        var epoch: UInt64
    }

    /// The app gave a message.
    case added(OutboxMessage)
    /// The message is about to be sent for the first time.
    case begun(OutboxMessage.ID, Beginning)
    /// The message needs no more care.
    case ended(OutboxMessage.ID)

    var line: Data {
        switch self {
        case .added(let message): OutboxLine(added: .init(message)).bytes
        case .begun(let id, let beginning): OutboxLine(begun: .init(id: id, beginning: beginning)).bytes
        case .ended(let id): OutboxLine(ended: id).bytes
        }
    }
}

/// Whose messages a file holds. They are nobody else's to send.
struct OutboxOwner: Hashable, Codable {
    var app: String
    var user: String

    /// What a file begins with.
    var line: Data { OutboxLine(outbox: .init(version: OutboxLine.version, owner: self)).bytes }
}

/// What could be read of a file.
struct OutboxContent: Hashable {
    var records: [OutboxRecord] = []
    /// How long the file is up to its end, or up to the first line that is cut off or damaged.
    var byteCount = 0

    /// - Throws: `.invalidParameter` (-10014) for a file that isn't this user's outbox. It must not be
    ///   touched then.
    init(of file: Data, owner: OutboxOwner) throws(RTMError) {
        var rest = file
        guard let head = OutboxLine.next(&rest)?.outbox else {
            throw RTMError(.invalidParameter, "the file is not an outbox")
        }
        guard head.version == OutboxLine.version else {
            throw RTMError(
                .invalidParameter,
                "the outbox has version \(head.version), this client reads \(OutboxLine.version)")
        }
        guard head.owner == owner else {
            throw RTMError(
                .invalidParameter,
                "the outbox belongs to user \"\(head.owner.user)\" of app \"\(head.owner.app)\"")
        }
        var byteCount = file.count - rest.count
        while let record = OutboxLine.next(&rest)?.record {
            records.append(record)
            byteCount = file.count - rest.count
        }
        self.byteCount = byteCount
    }
}

/// A line as it is written. Exactly one of the fields is there.
private struct OutboxLine: Codable {
    static let version = 1
    private static let newline = UInt8(ascii: "\n")
    /// The first bytes of a SHA-256, in hexadecimal digits.
    private static let checksumBytes = 8

    struct Head: Codable {
        var version: Int
        var owner: OutboxOwner
    }

    struct Added: Codable {
        var id: OutboxMessage.ID
        var channel: String?
        var topic: String?
        var user: String?
        var text: String?
        var data: Data?
        var customType: String?
        var storeInHistory: Bool?
    }

    struct Begun: Codable {
        var id: OutboxMessage.ID
        var beginning: OutboxRecord.Beginning
    }

    var outbox: Head?
    var added: Added?
    var begun: Begun?
    var ended: OutboxMessage.ID?

    var record: OutboxRecord? {
        if let added { return added.message.map(OutboxRecord.added) }
        if let begun { return .begun(begun.id, begun.beginning) }
        return ended.map(OutboxRecord.ended)
    }

    var bytes: Data {
        guard let json = try? JSONEncoder().encode(self) else {
            preconditionFailure("texts, bytes and whole numbers are always JSON")
        }
        return Self.checksum(of: json) + json + [Self.newline]
    }

    /// The first line, if it is whole and undamaged. `rest` is what follows it then.
    static func next(_ rest: inout Data) -> OutboxLine? {
        guard let end = rest.firstIndex(of: newline) else { return nil }
        let line = rest[rest.startIndex..<end]
        let json = line.dropFirst(2 * checksumBytes)
        guard line.starts(with: checksum(of: json)),
            let value = try? JSONDecoder().decode(OutboxLine.self, from: json)
        else { return nil }
        rest = rest[(end + 1)...]
        return value
    }

    private static func checksum(of json: Data) -> Data {
        let digits = Array("0123456789abcdef".utf8)
        return Data(
            SHA256.hash(data: json).prefix(checksumBytes).flatMap { byte in
                [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            })
    }
}

extension OutboxLine.Added {
    fileprivate init(_ message: OutboxMessage) {
        self.init(id: message.id)
        switch message.destination {
        case .channel(let name): channel = name
        case .user(let id): user = id
        case .topic(let name, let stream): (topic, channel) = (name, stream)
        }
        switch message.payload {
        case .text(let value): text = value
        case .data(let value): data = value
        }
        if !message.customType.isEmpty { customType = message.customType }
        if message.storeInHistory { storeInHistory = true }
    }

    fileprivate var message: OutboxMessage? {
        let destination: MessageDestination? =
            switch (channel, topic, user) {
            case (let channel?, let topic?, nil): .topic(topic, in: channel)
            case (let channel?, nil, nil): .channel(channel)
            case (nil, nil, let user?): .user(user)
            default: nil
            }
        guard let destination, let payload = text.map(MessagePayload.text) ?? data.map(MessagePayload.data)
        else { return nil }
        return OutboxMessage(
            id: id, payload: payload, destination: destination, customType: customType ?? "",
            storeInHistory: storeInHistory ?? false)
    }
}
