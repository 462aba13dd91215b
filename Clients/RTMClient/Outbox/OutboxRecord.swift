// The file of an outbox: lines of JSON, each behind a checksum. It is only ever appended to, so a crash can
// damage nothing but its end, and the end is what the checksum of each line finds.

import Foundation
import RTMCryptography
import RTMModel

/// One line of an outbox's file. Pure.
enum OutboxRecord: Hashable {
    /// When a message was sent for the first time, and what the client knew of the server's logs then.
    struct Beginning: Hashable, Codable {
        /// By the server's clock, so that the age is right after a restart of a device whose clock was set.
        var atMilliseconds: UInt64
        /// That of the inbox; 0 is unknown.
        var epoch: UInt64
    }

    /// The app gave a message.
    case added(OutboxMessage)
    /// The message is about to be sent for the first time.
    case begun(OutboxMessage.ID, Beginning)
    /// It was not sent after all.
    case notSent(OutboxMessage.ID)
    /// The message needs no more care.
    case ended(OutboxMessage.ID)

    var line: Data {
        switch self {
        case .added(let message): OutboxLine(added: .init(message)).bytes
        case .begun(let id, let beginning): OutboxLine(begun: .init(id: id, beginning: beginning)).bytes
        case .notSent(let id): OutboxLine(notSent: id).bytes
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
    /// How long the file is up to its end, or up to what a crash has left there.
    var byteCount = 0
    /// How many lines before that can't be read. What they said is lost.
    var damagedLines = 0

    /// - Throws: `.invalidParameter` (-10014) for a file that isn't this user's outbox. It must not be
    ///   touched then.
    init(of file: Data, owner: OutboxOwner) throws(RTMError) {
        var rest = file
        guard let head = OutboxLine.next(&rest)?.line?.outbox else {
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
        byteCount = file.count - rest.count
        var unread = 0
        while let next = OutboxLine.next(&rest) {
            guard let record = next.line?.record else {
                unread += 1
                continue
            }
            records.append(record)
            (byteCount, damagedLines) = (file.count - rest.count, unread)
        }
    }

    /// That of a new file.
    init() {}
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
    var notSent: OutboxMessage.ID?
    var ended: OutboxMessage.ID?

    var record: OutboxRecord? {
        if let added { return added.message.map(OutboxRecord.added) }
        if let begun { return .begun(begun.id, begun.beginning) }
        if let notSent { return .notSent(notSent) }
        return ended.map(OutboxRecord.ended)
    }

    var bytes: Data {
        guard let json = try? JSONEncoder().encode(self) else {
            preconditionFailure("texts, bytes and whole numbers are always JSON")
        }
        return Self.checksum(of: json) + json + [Self.newline]
    }

    struct Read {
        let line: OutboxLine?
    }

    /// The first line, if there is one with an end. `rest` is what follows it then, and the line is nil if it
    /// is damaged.
    static func next(_ rest: inout Data) -> Read? {
        guard let end = rest.firstIndex(of: newline) else { return nil }
        let line = rest[rest.startIndex..<end]
        rest = rest[(end + 1)...]
        let json = line.dropFirst(2 * checksumBytes)
        guard line.starts(with: checksum(of: json)) else { return Read(line: nil) }
        return Read(line: try? JSONDecoder().decode(OutboxLine.self, from: json))
    }

    private static func checksum(of json: Data) -> Data {
        let digits = Array("0123456789abcdef".utf8)
        return Data(
            MessageDigest.make(of: json).prefix(checksumBytes).flatMap { byte in
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
        // The outbox takes none.
        case .topic: break
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
            channel.map(MessageDestination.channel) ?? user.map(MessageDestination.user)
        guard let destination, let payload = text.map(MessagePayload.text) ?? data.map(MessagePayload.data)
        else { return nil }
        return OutboxMessage(
            id: id, payload: payload, destination: destination, customType: customType ?? "",
            storeInHistory: storeInHistory ?? false)
    }
}
