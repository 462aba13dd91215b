import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("What a person reads")
struct TranscriptTests {
    private var transcript: Transcript {
        get throws { try transcript(today: 1_790_000_000) }
    }

    /// An hour east of Greenwich.
    private func transcript(today seconds: TimeInterval) throws -> Transcript {
        Transcript(
            timeZone: try #require(TimeZone(secondsFromGMT: 3600)),
            now: { Date(timeIntervalSince1970: seconds) })
    }

    private func message(
        _ payload: MessagePayload, from publisher: String = "alice", type: ChannelType = .message,
        customType: String = ""
    ) -> RTMEvent {
        .message(
            MessageEvent(
                channelType: type, channelName: "lobby", payload: payload, publisher: publisher,
                customType: customType, timestampMilliseconds: 1_790_000_000_000, offset: 1))
    }

    @Test("a message says when, where, who and what")
    func message() throws {
        #expect(try transcript.line(for: message(.text("hi"))) == "15:13:20 lobby alice: hi")
        #expect(
            try transcript.line(for: message(.text("hi"), customType: "note"))
                == "15:13:20 lobby alice [note]: hi")
        #expect(
            try transcript.line(for: message(.data(Data([1, 2, 3])), type: .user))
                == "15:13:20 (to you) alice: (binary, 3 bytes)")
    }

    @Test("what is of another day has its date, by the clock of the reader")
    func date() throws {
        let event = message(.text("hi"))
        // 15:13:20 there: midnight comes after 8 hours, 46 minutes and 40 seconds.
        #expect(try transcript(today: 1_790_031_599).line(for: event) == "15:13:20 lobby alice: hi")
        #expect(
            try transcript(today: 1_790_031_600).line(for: event) == "2026-09-21 15:13:20 lobby alice: hi")
        #expect(
            try transcript(today: 1_790_000_000 - 86_400).line(for: event)
                == "2026-09-21 15:13:20 lobby alice: hi")
    }

    @Test("in a chat the channel is not repeated, and own lines look different")
    func chat() throws {
        var transcript = try transcript
        transcript.showsChannel = false
        #expect(transcript.line(for: message(.text("hi"))) == "15:13:20 alice: hi")
        #expect(transcript.line(forOwn: "hi", at: 1_790_000_000_000) == "15:13:20 you> hi")
    }

    @Test("nothing that others write steers the terminal or pretends to be another line")
    func hostileText() throws {
        let text = "one\n15:13:20 lobby bob: two\u{1B}[2J\r\u{7}\u{202E}"
        let line = try #require(try transcript.line(for: message(.text(text), from: "a\u{1B}]0;x")))
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
        #expect(!line.unicodeScalars.contains("\u{202E}"))
        #expect(line.contains("\n    15:13:20 lobby bob: two"))
    }

    @Test("a lost and a restored link are said, an attempt is not")
    func linkState() throws {
        func change(_ state: LinkState, isResumed: Bool = false) -> RTMEvent {
            .linkState(
                LinkStateEvent(
                    currentState: state, previousState: .connected, operation: .autoReconnect,
                    reasonCode: .connectionError, reason: "closed", isResumed: isResumed,
                    timestampMilliseconds: 0))
        }
        #expect(
            try transcript.line(for: change(.disconnected))
                == "-- the connection is lost (closed); trying again")
        #expect(try transcript.line(for: change(.connecting)) == nil)
        #expect(try transcript.line(for: change(.connected, isResumed: true)) == "-- the connection is back")
    }

    @Test("S-50: a token that is about to expire is said")
    func tokenWillExpire() throws {
        let event = RTMEvent.tokenWillExpire(TokenWillExpireEvent(remaining: .milliseconds(29_950)))
        #expect(
            try transcript.line(for: event) == "-- the token expires in 29 s, and the connection with it")
    }

    @Test("a name has one colour; plain means no escape sequences; NO_COLOR is honoured")
    func colours() {
        #expect(Palette.colours.name("alice") == Palette.colours.name("alice"))
        #expect(Palette.colours.name("alice").hasPrefix("\u{1B}[3"))
        #expect(Palette.plain.name("alice") == "alice")
        #expect(Palette(isTerminal: true, environment: ["TERM": "xterm"]) == .colours)
        #expect(Palette(isTerminal: true, environment: ["NO_COLOR": "1"]) == .plain)
        #expect(Palette(isTerminal: true, environment: ["TERM": "dumb"]) == .plain)
        #expect(Palette(isTerminal: false, environment: [:]) == .plain)
    }
}
