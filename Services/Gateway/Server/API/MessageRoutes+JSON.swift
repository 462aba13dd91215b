import Foundation
import Hummingbird

// Messages come so often, and so many in one request, that their bodies and answers have a reader and a
// writer of their own.

extension MessageRoutes.Message {
    static func plain(_ bytes: [UInt8]) throws(APIError) -> Self? {
        // It has no list that could be too long.
        try? PlainJSON.read(bytes) { (json) throws(PlainJSON.Stop) in try Self(&json) }
    }

    fileprivate init(_ json: inout PlainJSON) throws(PlainJSON.Stop) {
        self.init()
        try json.openObject()
        while let name = try json.nextMember() {
            switch CodingKeys(rawValue: name) {
            case .channel?: try channel.take(json.text())
            case .user?: try user.take(json.text())
            case .message?: try message.take(TextPayload(json.text()))
            case .data?: try data.take(json.base64())
            case .customType?: try customType.take(json.text())
            case .publisher?: try publisher.take(json.text())
            case .store?: try store.take(json.flag())
            case .ifOffset?: try ifOffset.take(json.number())
            case .ifEpoch?: try ifEpoch.take(json.number())
            case .version?: try version.take(json.number())
            case .versionEpoch?: try versionEpoch.take(json.text())
            case .idempotencyKey?: try idempotencyKey.take(json.text())
            case nil: throw PlainJSON.Stop.unusual
            }
        }
    }
}

extension MessageRoutes.Batch {
    static func plain(_ bytes: [UInt8]) throws(APIError) -> Self? {
        try read(bytes) { (json) throws(PlainJSON.Stop) in
            var messages: [MessageRoutes.Message]?
            try json.openObject()
            while let name = try json.nextMember() {
                guard name == CodingKeys.messages.rawValue else { throw PlainJSON.Stop.unusual }
                try messages.take(
                    json.list(upTo: MessageRoutes.messagesMax) {
                        (json) throws(PlainJSON.Stop) in try MessageRoutes.Message(&json)
                    })
            }
            guard let messages else { throw PlainJSON.Stop.unusual }
            return Self(messages: StrictList(messages))
        }
    }
}

extension MessageRoutes.Broadcast {
    static func plain(_ bytes: [UInt8]) throws(APIError) -> Self? {
        try read(bytes) { (json) throws(PlainJSON.Stop) in
            var channels: [String]?
            var body = Self(channels: MessageRoutes.NameList(all: []))
            try json.openObject()
            while let name = try json.nextMember() {
                switch CodingKeys(rawValue: name) {
                case .channels?:
                    try channels.take(
                        json.list(upTo: MessageRoutes.messagesMax) {
                            (json) throws(PlainJSON.Stop) in try json.text()
                        })
                case .message?: try body.message.take(TextPayload(json.text()))
                case .data?: try body.data.take(json.base64())
                case .customType?: try body.customType.take(json.text())
                case .publisher?: try body.publisher.take(json.text())
                case .store?: try body.store.take(json.flag())
                case .version?: try body.version.take(json.number())
                case .versionEpoch?: try body.versionEpoch.take(json.text())
                case nil: throw PlainJSON.Stop.unusual
                }
            }
            guard let channels else { throw PlainJSON.Stop.unusual }
            body.channels = MessageRoutes.NameList(all: channels)
            return body
        }
    }
}

extension APIBody {
    /// A body whose list is one of messages.
    fileprivate static func read(
        _ bytes: [UInt8], _ body: (inout PlainJSON) throws(PlainJSON.Stop) -> Self
    ) throws(APIError) -> Self? {
        do throws(PlainJSON.TooLong) { return try PlainJSON.read(bytes, body) } catch {
            throw .tooManyMessages
        }
    }
}

extension APIError {
    static var tooManyMessages: APIError {
        APIError(
            .badRequest, "tooManyMessages", "a request has at most \(MessageRoutes.messagesMax) messages")
    }
}

extension PlainJSON {
    fileprivate mutating func base64() throws(Stop) -> Data {
        guard let data = Data(base64Encoded: try text()) else { throw Stop.unusual }
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
        member("order", published.order)
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
