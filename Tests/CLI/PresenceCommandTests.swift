import ArgumentParser
import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("Presence on the command line")
struct PresenceCommandTests {
    private func event(_ change: PresenceEvent.Change) -> RTMEvent {
        .presence(
            PresenceEvent(
                channelType: .message, channelName: "lobby", change: change, timestampMilliseconds: 7))
    }

    /// Greenwich, on the first day of the epoch.
    private let transcript = Transcript(timeZone: .gmt, now: { Date(timeIntervalSince1970: 0) })

    private let bob = UserState(userID: "bob", states: ["mood": "good", "b": "\u{1B}[2J"])

    @Test("presence events have the names of the public API")
    func json() {
        #expect(
            event(.joined("bob")).json.description
                == #"{"event":"presence","type":"remoteJoinChannel","channelType":"message","#
                + #""channelName":"lobby","publisher":"bob","timestamp":7,"#
                + #""time":"1970-01-01T00:00:00.007Z"}"#
        )
        #expect(
            event(.statesChanged(.init(userID: "bob", states: ["b": "2", "a": "1"]))).json.description
                == #"{"event":"presence","type":"remoteStateChanged","channelType":"message","#
                + #""channelName":"lobby","publisher":"bob","states":{"a":"1","b":"2"},"timestamp":7,"#
                + #""time":"1970-01-01T00:00:00.007Z"}"#
        )
        #expect(
            event(.snapshot([.init(userID: "bob")])).json.description
                == #"{"event":"presence","type":"snapshot","channelType":"message","channelName":"lobby","#
                + #""snapshot":[{"userId":"bob","states":{}}],"timestamp":7,"#
                + #""time":"1970-01-01T00:00:00.007Z"}"#
        )
        #expect(
            event(.interval(.init(joined: ["a"], left: ["b"], occupancy: 3))).json.description
                == #"{"event":"presence","type":"interval","channelType":"message","channelName":"lobby","#
                + #""interval":{"joinUserList":["a"],"leaveUserList":["b"],"timeoutUserList":[],"#
                + #""userStateList":[],"totalOccupancy":3},"timestamp":7,"#
                + #""time":"1970-01-01T00:00:00.007Z"}"#)
    }

    @Test("an update of a roster has what changed, and everybody who is there")
    func roster() {
        let update = RosterUpdate(
            members: ["bob": ["a": "1"], "ann": [:]],
            changes: [.joined("bob"), .statesChanged(.init(userID: "bob", states: ["a": "1"]))])
        #expect(
            update.json.description
                == #"{"totalOccupancy":2,"changes":[{"type":"joined","userId":"bob"},"#
                + #"{"type":"statesChanged","userId":"bob","states":{"a":"1"}}],"#
                + #""users":[{"userId":"ann","states":{}},{"userId":"bob","states":{"a":"1"}}]}"#)
    }

    @Test("a person reads who comes and goes")
    func comings() {
        var transcript = transcript
        #expect(transcript.line(for: event(.joined("bob"))) == "00:00:00 -- bob is here in lobby")
        transcript.showsChannel = false
        #expect(transcript.line(for: event(.left("bob"))) == "00:00:00 -- bob left")
        #expect(
            transcript.line(for: event(.timedOut("bob")))
                == "00:00:00 -- bob lost the connection")
        #expect(
            transcript.line(
                for: event(.snapshot([.init(userID: "ann"), .init(userID: "bob", states: ["a": "1"])])))
                == "00:00:00 -- here: ann, bob (a=1)")
        #expect(transcript.line(for: event(.snapshot([]))) == "00:00:00 -- here: nobody")
        #expect(
            transcript.line(for: event(.interval(.init(joined: ["a", "b", "c", "d"], left: ["e"]))))
                == "00:00:00 -- 4 users came, e left")
        #expect(transcript.line(for: event(.interval(.init()))) == nil)
        #expect(transcript.line(for: event(.outage(.notAskedFor))) == nil)
        #expect(
            transcript.line(for: event(.outage(.unavailable)))
                == "00:00:00 -- the server doesn't know at the moment who is here")
    }

    @Test("a snapshot of many names some and counts the rest; nothing in states steers the terminal")
    func limits() throws {
        let users = (0..<100).map { UserState(userID: "user\($0)") }
        let line = try #require(Transcript().line(for: event(.snapshot(users))))
        #expect(line.hasSuffix("user19 and 80 more"))
        let states = try #require(Transcript().line(for: event(.statesChanged(bob))))
        #expect(!states.unicodeScalars.contains("\u{1B}"))
    }

    @Test("states are KEY=VALUE; a key that is given twice is refused (-13010)")
    func arguments() throws {
        #expect(try StateArguments.items(["a=1", "b=x=y", "c="]) == ["a": "1", "b": "x=y", "c": ""])
        for wrong in [[], ["a"], ["=1"], ["a=1", "a=2"]] {
            #expect(throws: ValidationError.self) { try StateArguments.items(wrong) }
        }
        #expect(throws: (any Error).self) {
            try RTMCommand.parseAsRoot(["presence", "set", "lobby", "mood"])
        }
        #expect(try RTMCommand.parseAsRoot(["presence", "set", "lobby", "mood=good"]) is PresenceSetCommand)
        #expect(try RTMCommand.parseAsRoot(["presence", "who", "lobby", "--count"]) is PresenceWhoCommand)
        #expect(throws: (any Error).self) {
            try RTMCommand.parseAsRoot(["presence", "who", "lobby", "--count", "--states"])
        }
    }
}
