import Foundation
import Hummingbird

// Messages come so often, and so many in one request, that their bodies and answers have a reader and a
// writer of their own.

extension MessageRoutes.Message {
    static func plain(_ bytes: [UInt8]) -> Self? {
        PlainJSON.read(bytes) { (json) throws(PlainJSON.Unusual) in try Self(&json) }
    }

    fileprivate init(_ json: inout PlainJSON) throws(PlainJSON.Unusual) {
        self.init()
        try json.openObject()
        while let name = try json.nextMember() {
            switch CodingKeys(rawValue: name) {
            case .channel?: try channel.take(json.text())
            case .user?: try user.take(json.text())
            case .message?: try message.take(json.text())
            case .data?: try data.take(json.base64())
            case .customType?: try customType.take(json.text())
            case .publisher?: try publisher.take(json.text())
            case .store?: try store.take(json.flag())
            case .ifOffset?: try ifOffset.take(json.number())
            case .ifEpoch?: try ifEpoch.take(json.number())
            case .version?: try version.take(json.number())
            case .versionEpoch?: try versionEpoch.take(json.text())
            case .idempotencyKey?: try idempotencyKey.take(json.text())
            case nil: throw PlainJSON.Unusual()
            }
        }
    }
}

extension MessageRoutes.Batch {
    static func plain(_ bytes: [UInt8]) -> Self? {
        PlainJSON.read(bytes) { (json) throws(PlainJSON.Unusual) in
            var messages: [MessageRoutes.Message]?
            try json.openObject()
            while let name = try json.nextMember() {
                guard name == CodingKeys.messages.rawValue else { throw PlainJSON.Unusual() }
                try messages.take(
                    json.list { (json) throws(PlainJSON.Unusual) in try MessageRoutes.Message(&json) })
            }
            guard let messages else { throw PlainJSON.Unusual() }
            return Self(messages: StrictList(messages))
        }
    }
}

extension PlainJSON {
    fileprivate mutating func base64() throws(Unusual) -> Data {
        guard let data = Data(base64Encoded: try text()) else { throw Unusual() }
        return data
    }
}

extension JSONWriter {
    /// Bytes of the answer for one message, and a bit more.
    private static let answerBytes = 160

    init(_ published: MessageRoutes.Published) {
        self.init(capacity: Self.answerBytes)
        object { $0.members(of: published) }
    }

    init(_ outcomes: MessageRoutes.Outcomes) {
        self.init(capacity: Self.answerBytes * (outcomes.results.count + 1))
        object { json in
            json.name("results")
            json.list(outcomes.results) { outcome, json in json.object { $0.members(of: outcome) } }
        }
    }

    private mutating func members(of outcome: MessageRoutes.Outcome) {
        member("channel", outcome.channel)
        if let error = outcome.error {
            name("error")
            value(Response.text(json: error.body))
        }
        if let published = outcome.published { members(of: published) }
        member("user", outcome.user)
    }

    private mutating func members(of published: MessageRoutes.Published) {
        member("epoch", published.epoch)
        member("offset", published.offset)
        member("rememberedFor", published.rememberedFor)
        if let replayed = published.replayed {
            name("replayed")
            flag(replayed)
        }
        member("timestamp", published.timestamp)
    }

    private mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        self.name(name)
        text(value)
    }

    private mutating func member(_ name: StaticString, _ value: UInt64?) {
        guard let value else { return }
        self.name(name)
        number(value)
    }
}
