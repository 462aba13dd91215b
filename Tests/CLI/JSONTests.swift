import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("What --json says")
struct JSONTests {
    @Test("a text message has the fields and the order of the public API")
    func textMessage() {
        let event = RTMEvent.message(
            MessageEvent(
                channelType: .message, channelName: "lobby", payload: .text("hi"), publisher: "alice",
                timestampMilliseconds: 1_790_000_000_000, offset: 7))
        #expect(
            event.json.description
                == #"{"event":"message","channelType":"message","channelName":"lobby","publisher":"alice","#
                + #""message":"hi","customType":"","timestamp":1790000000000,"#
                + #""time":"2026-09-21T14:13:20.000Z"}"#
        )
    }

    @Test("a binary payload is base64 under 'data'")
    func binaryMessage() {
        let event = RTMEvent.message(
            MessageEvent(
                channelType: .user, channelName: "bob", payload: .data(Data([0, 255, 1])), publisher: "alice",
                customType: "ping", timestampMilliseconds: 1, offset: 1))
        #expect(
            event.json.description
                == #"{"event":"message","channelType":"user","channelName":"bob","publisher":"alice","#
                + #""data":"AP8B","customType":"ping","timestamp":1,"time":"1970-01-01T00:00:00.001Z"}"#)
    }

    @Test("a change of the link state names its states and its reason (S-23)")
    func linkState() {
        let event = RTMEvent.linkState(
            LinkStateEvent(
                currentState: .connected, previousState: .connecting, operation: .reconnected,
                reasonCode: .reconnectSuccess, reason: "back", affectedChannels: ["a", "b"], isResumed: true,
                timestampMilliseconds: 5))
        #expect(
            event.json.description
                == #"{"event":"linkState","currentState":"connected","previousState":"connecting","#
                + #""serviceType":"message","operation":"reconnected","reasonCode":"reconnectSuccess","#
                + #""reason":"back","affectedChannels":["a","b"],"unrestoredChannels":[],"#
                + #""forbiddenChannels":[],"unrestoredUsers":[],"isResumed":true,"timestamp":5,"#
                + #""time":"1970-01-01T00:00:00.005Z"}"#)
    }

    @Test("S-50: a token that is about to expire says what is left of it")
    func tokenWillExpire() {
        let event = RTMEvent.tokenWillExpire(TokenWillExpireEvent(remaining: .milliseconds(29_950)))
        #expect(event.json.description == #"{"event":"tokenWillExpire","remainingMilliseconds":29950}"#)
    }

    @Test("a gap says what was seen last and where delivery goes on; an epoch keeps all 64 bits")
    func gap() {
        let event = RTMEvent.gap(
            GapEvent(
                channelType: .message, channelName: "lobby", lastSeen: nil,
                continuesAfter: StreamPosition(epoch: .max, offset: 9)))
        #expect(
            event.json.description
                == #"{"event":"gap","channelType":"message","channelName":"lobby","lastSeen":null,"#
                + #""continuesAfter":{"epoch":"18446744073709551615","offset":9}}"#)
    }

    @Test("an error has code, name, operation and reason")
    func error() {
        let error = RTMError(
            .channelMessageLengthExceedLimitation, "too long", operation: "publish")
        #expect(
            error.json.description
                == #"{"error":{"code":-11010,"name":"channelMessageLengthExceedLimitation","#
                + #""operation":"publish","reason":"too long"}}"#)
    }

    @Test(
        "any text survives, on one line and without control characters",
        arguments: [
            "", "hi", "a \"quoted\" \\ text", "two\nlines\r\nand a\ttab", "\u{0}\u{1B}[2J\u{7F}\u{85}",
            "grüße 👋🏽 \u{2028}", "\u{FFFF}",
        ])
    func strings(text: String) throws {
        let line = JSON.object([.init(name: text, value: .string(text))]).description
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(!line.contains { $0.isNewline })
        let parsed = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
        #expect(parsed == [text: text])
    }

    @Test("numbers are rounded, and written without exponent")
    func numbers() {
        #expect(JSON.number(0.0625, decimals: 3).description == "0.063")
        #expect(JSON.number(12_345_678.9, decimals: 0).description == "12345679")
        #expect(JSON.number(-0.5, decimals: 2).description == "-0.50")
        #expect(JSON.number(-0.0001, decimals: 2).description == "0.00")
        #expect(JSON.number(.nan, decimals: 2).description == "null")
    }
}
