import Foundation
import HummingbirdCore
import RTMModel
import Testing

@testable import RTMGatewayServer

@Suite("W-84: payloads that are JSON")
struct JSONPayloadTests {
    private func decode<Body: APIBody>(_ type: Body.Type, _ json: String) throws -> Body {
        try Request.decodeNamed(type, from: Array(json.utf8))
    }

    @Test(
        "an object or a list is the text that was written",
        arguments: [
            #"{"b": 1.10, "a": [1e30, 18446744073709551616]}"#, "[]", "{}", "[ [], {} ,\"]\" ]",
            #"{"message": {"message": "}"}, "x": "\\\"{"}"#, #"["a\nb", "\u00e4", "ä"]"#,
            "{\n\t\"a\" :null}",
        ])
    func text(payload: String) throws {
        let message = try decode(
            MessageRoutes.Message.self, #"{"channel": "{[", "message" : \#(payload), "store": true}"#)
        #expect(message.message?.text == payload && message.message?.isJSON == true)
        #expect(message.store == true && message.channel == "{[")
        let batch = try decode(
            MessageRoutes.Batch.self,
            #"{"messages": [{"message": "x"}, {"message": \#(payload)}, {"message":\#(payload)}]}"#)
        #expect(batch.messages.elements.map(\.message?.text) == ["x", payload, payload])
        #expect(batch.messages.elements.map(\.message?.isJSON) == [false, true, true])
        let broadcast = try decode(
            MessageRoutes.Broadcast.self, #"{"message": \#(payload), "channels": ["a"]}"#)
        #expect(broadcast.message?.text == payload && broadcast.channels.all == ["a"])
    }

    @Test("the name may be spelled by an escape, and a list of the caller's is no text")
    func escapedName() throws {
        let message = try decode(MessageRoutes.Message.self, #"{"m\u0065ssage": ["abc", "def"]}"#)
        #expect(message.message?.text == #"["abc", "def"]"# && message.message?.isJSON == true)
    }

    @Test(
        "what is no JSON, or no payload, is refused as before",
        arguments: [
            (#"{"message": {"a": 1}"#, "not JSON"), (#"{"message": {"a": 1, "a": 2}}"#, "twice"),
            (#"{"message": 1}"#, "message"), (#"{"message": true}"#, "message"),
            (#"{"message": {"a": "\ud83d"}}"#, "half a character"),
            (#"{"channel": {"message": {}}}"#, "channel"),
        ])
    func refusals(json: String, reason: String) {
        do {
            _ = try decode(MessageRoutes.Message.self, json)
            Issue.record("accepted: \(json)")
        } catch {
            #expect((error as? APIError)?.body.reason.contains(reason) == true, "\(error)")
        }
    }
}
