import Foundation
import RTMModel
import RTMServiceKit
import Testing

@testable import RTMPublishHook

@Suite("What a hook is asked and answers")
struct PublishHookQuestionTests {
    private func question(
        _ type: ChannelType = .message, _ name: String = "lobby", text: String? = "hello",
        bytes: [UInt8] = [], sequence: UInt64 = 7
    ) -> PublishHookQuestion {
        PublishHookQuestion(
            channel: ChannelKey(appID: "app", type: type, name: name), publisher: "ada",
            message: PublishHookMessage(
                isText: text != nil, payload: text.map { Array($0.utf8) } ?? bytes, customType: ""),
            isStored: true, origin: 0xA11CE, sequence: sequence)
    }

    @Test(
        "W-70: the question names app, channel, publisher and content, and is the same when it is asked again"
    )
    func body() {
        #expect(
            question().body == #"{"app":"app","channel":"lobby","id":"a11ce-7","message":"hello","#
                + #""publisher":"ada","store":true,"type":"message.publish"}"#)
        #expect(question(.user, "ben").body.contains(#""user":"ben""#))
        #expect(!question(.user, "ben").body.contains("channel"))
        #expect(question(.topic, "stage/chat").body.contains(#""channel":"stage""#))
        #expect(question(.topic, "stage/chat").body.contains(#""topic":"chat""#))
        #expect(question(text: nil, bytes: [1, 2, 255]).body.contains(#""data":"AQL/""#))
        #expect(question().body == question().body)
        #expect(question(sequence: 0).body != question(sequence: 0).body, "nobody sends it again")
    }

    @Test("W-74: what an answer means")
    func answers() {
        func reply(_ text: String, _ question: PublishHookQuestion? = nil) -> PublishHookReply {
            PublishHookReply(text, to: question ?? self.question())
        }
        #expect(reply(#"{"allow": true, "later": 1}"#) == .allow(nil))
        #expect(reply(#"{"allow": true, "message": "hello"}"#) == .allow(nil))
        #expect(reply(#"{"allow": false, "reason": "spam"}"#) == .refuse("spam"))
        #expect(reply(#"{"allow": false}"#) == .refuse(""))
        #expect(
            reply(#"{"allow": true, "message": "h***o", "customType": "masked"}"#)
                == .allow(
                    PublishHookMessage(isText: true, payload: Array("h***o".utf8), customType: "masked")))
        #expect(
            reply(#"{"allow": true, "data": "AQL/"}"#)
                == .allow(PublishHookMessage(isText: false, payload: [1, 2, 255], customType: "")))
        let long = String(repeating: "x", count: Limits.messageBytesMax)
        #expect(reply(#"{"allow": true, "message": "\#(long)"}"#) != .allow(nil))
        for text in [
            "", "no", "[]", #"{"allow": "yes"}"#, #"{"reason": "spam"}"#, #"{"allow": true, "data": "?"}"#,
            #"{"allow": true, "message": "a", "data": "AQL/"}"#,
            #"{"allow": true, "message": "\#(long)x"}"#,
            #"{"allow": true, "customType": "\#(String(repeating: "x", count: 100))"}"#,
        ] {
            guard case .failed(_, isAway: false) = reply(text) else {
                Issue.record("\(text.prefix(80)) is taken as an answer")
                continue
            }
        }
        let topic = question(.topic, "stage/chat")
        let tooLong = String(repeating: "x", count: Limits.topicMessageBytesMax + 1)
        guard case .failed = reply(#"{"allow": true, "message": "\#(tooLong)"}"#, topic) else {
            Issue.record("a message of a topic has a limit of its own")
            return
        }
        #expect(
            reply(#"{"allow": false, "reason": "\#(String(repeating: "é", count: 500))"}"#)
                == .refuse(String(repeating: "é", count: 200)))
    }

    @Test("a record is read back as it was written, and a wrong list is named")
    func records() throws {
        var record = PublishHookRecord(
            app: "app", url: "https://hook.example.com/ask",
            secret: Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        (record.channels, record.deadline, record.onFailure) = ("chat-", .milliseconds(80), .publish)
        record.parallel = 5
        #expect(PublishHookRecord(record.record) == record)
        #expect(PublishHookRecord.problem([record]) == nil)
        #expect(PublishHookRecord.problem([record, record])?.contains("two hooks") == true)
        record.url = "ftp://hook.example.com"
        #expect(PublishHookRecord.problem([record])?.contains("needs a url") == true)
    }

    @Test("a prefix is compared byte by byte, as the names of channels are")
    func prefix() {
        var record = PublishHookRecord(app: "dev", url: "https://a.example/", secret: Secret("whsec_x"))
        let composed = ChannelKey(appID: "dev", type: .message, name: "caf\u{E9}-1")
        #expect(record.asks(about: composed))
        record.channels = "caf\u{E9}"
        #expect(record.asks(about: composed))
        record.channels = "cafe\u{301}"
        #expect(!record.asks(about: composed))
        record.channels = "caf"
        #expect(record.asks(about: composed))
    }
}
