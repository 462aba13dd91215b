import Foundation
package import RTMModel

/// The content of a message that a hook is asked about, or that it wants to be published instead.
package struct PublishHookMessage: Sendable, Hashable {
    /// Whether the payload is a text, which is UTF-8.
    package var isText: Bool
    package var payload: [UInt8]
    package var customType: String

    package init(isText: Bool, payload: [UInt8], customType: String) {
        (self.isText, self.payload, self.customType) = (isText, payload, customType)
    }
}

/// What a hook is asked: may this message be published? The same message makes the same body whenever it is
/// asked about, so that a receiver recognises by `webhook-id` what its publisher sends again.
package struct PublishHookQuestion: Sendable, Hashable {
    package let channel: ChannelKey
    package let publisher: String
    package let message: PublishHookMessage
    package let isStored: Bool
    /// Who counts the message's sequence, and that number; 0: nobody sends the message again.
    package let origin: UInt64
    package let sequence: UInt64

    package init(
        channel: ChannelKey, publisher: String, message: PublishHookMessage, isStored: Bool, origin: UInt64,
        sequence: UInt64
    ) {
        (self.channel, self.publisher, self.message) = (channel, publisher, message)
        (self.isStored, self.origin, self.sequence) = (isStored, origin, sequence)
    }

    fileprivate var payloadBytesMax: Int {
        channel.type == .topic ? Limits.topicMessageBytesMax : Limits.messageBytesMax
    }

    /// The JSON of the request.
    package var body: String {
        let message = self.message
        let text = message.isText ? String(decoding: message.payload, as: UTF8.self) : nil
        let names = channel.name.split(separator: "/", maxSplits: 1).map(String.init)
        let isTopic = channel.type == .topic
        let body = Body(
            app: channel.appID,
            channel: channel.type == .user ? nil : isTopic ? names.first : channel.name,
            topic: isTopic ? names.last : nil, user: channel.type == .user ? channel.name : nil,
            publisher: publisher, id: id, message: text,
            data: text == nil ? Data(message.payload) : nil,
            customType: message.customType.isEmpty ? nil : message.customType, store: isStored)
        // It has texts and numbers alone, which always can be written.
        return String(decoding: (try? Self.encoder.encode(body)) ?? Data(), as: UTF8.self)
    }

    private var id: String {
        guard origin != 0, sequence != 0 else {
            return String(UInt64.random(in: 1 ... .max), radix: 16)
        }
        return "\(String(origin, radix: 16))-\(sequence)"
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    private struct Body: Encodable {
        let type = "message.publish"
        let app: String
        let channel: String?
        let topic: String?
        let user: String?
        let publisher: String
        let id: String
        let message: String?
        let data: Data?
        let customType: String?
        let store: Bool
    }
}

/// What came of a question.
package enum PublishHookReply: Sendable, Equatable {
    /// The message may be published; with this content, if there is one.
    case allow(PublishHookMessage?)
    /// It may not, and the publisher gets the reason.
    case refuse(String)
    /// There is no answer that says either. `isAway`: other questions wouldn't be answered now.
    case failed(String, isAway: Bool)

    /// Limit: characters of a reason that a publisher gets.
    static let reasonMax = 200

    /// Reads the body of an answer.
    package init(_ text: String, to question: PublishHookQuestion) {
        guard !text.isEmpty else {
            self = .failed("the answer has no body, and has to be JSON with \"allow\"", isAway: false)
            return
        }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(text.utf8)) else {
            self = .failed("the answer is no JSON with \"allow\"", isAway: false)
            return
        }
        guard answer.allow else {
            self = .refuse(String((answer.reason ?? "").prefix(Self.reasonMax)))
            return
        }
        do throws(RTMError) {
            self = .allow(try answer.message(insteadOf: question))
        } catch {
            self = .failed("the answer has a message that can't be published: \(error.reason)", isAway: false)
        }
    }

    private struct Answer: Decodable {
        let allow: Bool
        let reason: String?
        let message: String?
        let data: Data?
        let customType: String?

        /// Nil if nothing is changed.
        func message(insteadOf question: PublishHookQuestion) throws(RTMError) -> PublishHookMessage? {
            var changed = question.message
            switch (message, data) {
            case (let text?, nil): (changed.isText, changed.payload) = (true, Array(text.utf8))
            case (nil, let data?): (changed.isText, changed.payload) = (false, Array(data))
            case (nil, nil): break
            default: throw RTMError(.channelInvalidMessage, "it has both \"message\" and \"data\"")
            }
            if let customType {
                try NameRule.customType.check(customType.utf8)
                changed.customType = customType
            }
            guard changed.payload.count <= question.payloadBytesMax else {
                throw RTMError(
                    .channelMessageLengthExceedLimitation,
                    "it has \(changed.payload.count) bytes, \(question.payloadBytesMax) are allowed")
            }
            return changed == question.message ? nil : changed
        }
    }
}
