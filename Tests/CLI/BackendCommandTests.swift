import ArgumentParser
import Foundation
import RTMClient
import Testing

@testable import rtm

@Suite("What a gateway answers, at the command line")
struct BackendCommandTests {
    private let transcript = Transcript(
        timeZone: .gmt, now: { Date(timeIntervalSince1970: 1_764_080_000) })

    private func json(_ text: String) throws -> JSON { try #require(JSON(parsing: text)) }

    private func line(_ columns: [String?]) -> String { columns.compactMap { $0 }.joined(separator: "|") }

    @Test("a channel, a connection, a user and the usage")
    func lists() throws {
        let channel = try json(
            #"{"channel":"a","subscribers":1,"offset":0,"epoch":1,"active":1764080000000,"members":2}"#)
        #expect(
            line(ChannelListCommand.columns(of: channel, transcript))
                == "a|1 subscriber|no message|active 14:13:20")
        let user = try json(
            #"{"user":"ann","online":false,"bannedUntil":1764083600000,"connections":[{"user":"ann","#
                + #""address":"::1","client":"x\u001b[2J","since":1764080000000,"channels":2,"queuedBytes":7}]}"#
        )
        #expect(
            UserShowCommand.text(of: user, transcript)
                == "ann\toffline\tbanned until 15:13:20\n"
                + "::1\tx\u{FFFD}[2J\tsince 14:13:20\t2 channels\t7 bytes wait")
        let usage = try json(
            #"{"channels":1,"users":2,"connections":3,"key":{},"app":{"perSecond":5000,"left":9}}"#)
        #expect(
            UsageCommand.text(of: usage).split(separator: "\n") == [
                "channels\t1", "users\t2", "connections\t3", "rate of the key\tnot limited",
                "rate of the app\t5000 requests a second, 9 may come at once now",
            ])
    }

    @Test("what is slow and loud: a line for each row, which begins with its list")
    func top() throws {
        let top = try json(
            #"{"queues":[{"user":"a\tb","queuedBytes":7,"address":"::1"}],"channels":[{"channel":"c","#
                + #""type":"message","subscribers":2,"entriesPerSecond":1.5,"deliveriesPerSecond":3}],"#
                + #""publishers":[{"user":"d","messagesPerSecond":1,"bytesPerSecond":20.5,"address":"::2"}],"#
                + #""refused":[{"user":"e","request":"publish","count":2,"last":1764080000000,"reason":"r"}]}"#
        )
        #expect(
            TopCommand.text(of: top, transcript).split(separator: "\n") == [
                "queue\ta b\t7 bytes wait\t::1",
                "channel\tc\tmessage\t2 subscribers\t1.5 entries/s\t3.0 deliveries/s",
                "publisher\td\t1.0 messages/s\t20.5 bytes/s\t::2",
                "refused\te\t2 publishes\tlast 14:13:20\tr",
            ])
        #expect(TopCommand.text(of: try json("{}"), transcript).hasPrefix("nothing waits"))
    }

    @Test("what was done to a user, and what becomes of it")
    func moderation() throws {
        func sentence(_ command: String, _ outcome: String) throws -> String {
            ModerationArguments.sentence(command, "ben", try json(outcome), transcript)
        }
        #expect(try sentence("kick", #"{"sessions":1}"#) == "1 session of ben ended; ben may log in again")
        #expect(
            try sentence("ban", #"{"sessions":0,"until":1764083600000}"#)
                == "ben is banned until 15:13:20; 0 sessions of ben ended")
        #expect(try sentence("unban", #"{"untilBefore":1}"#) == "ben may log in again")
        #expect(try sentence("unban", "{}") == "ben was not banned")
        #expect(
            try sentence(
                "revoke-tokens", #"{"sessions":2,"issuedBefore":1764080000000,"until":1764083600000}"#)
                == "tokens of ben from before 14:13:20 are refused until 15:13:20; 2 sessions of ben ended")
    }

    @Test("W-60: an explanation: the verdict, and a line for each hop, further to the right")
    func explanation() throws {
        let answer = try json(
            #"{"verdict":"notDelivered","hop":"session","reason":"It subscribed later.","#
                + #""tree":{"hop":"log","verdict":"accepted","node":"messaging","at":1764080000000,"#
                + #""reason":"Here.","hops":[{"hop":"edge","verdict":"pushed","node":"edge","loop":1,"#
                + #""reason":"By \u001b[2J.","hops":[{"hop":"session","verdict":"subscribedLater","#
                + #""session":"7","reason":"It subscribed later."}]}]}}"#)
        #expect(
            ExplainCommand.text(of: answer, transcript).split(separator: "\n") == [
                "notDelivered: It subscribed later.", "log accepted\tmessaging\t14:13:20\tHere.",
                "  edge pushed\tedge, loop 1\tBy \u{FFFD}[2J.",
                "    session subscribedLater\tsession 7\tIt subscribed later.",
            ])
    }

    @Test("an event: a message with its publisher, others with their data")
    func events() throws {
        let message = try json(
            #"{"id":"a-1","type":"message.published","key":"message:lobby","number":3,"time":1764080000000,"#
                + #""data":{"publisher":"ann","message":"hi","timestamp":1}}"#)
        #expect(
            line(EventTailCommand.columns(of: message, transcript))
                == "14:13:20|message.published|message:lobby|3|ann: hi")
        let left = try json(
            #"{"type":"channel.left","key":"message:a","number":4,"data":{"users":["b"],"timedOut":[]}}"#)
        #expect(
            line(EventTailCommand.columns(of: left, transcript))
                == #"channel.left|message:a|4|{"timedOut":[],"users":["b"]}"#)
    }

    @Test(
        "the state of a webhook says what to do",
        arguments: [
            (#"{"isEnded":true,"lag":1}"#, "ended by 410; 'rtm webhook redeliver' begins again"),
            (#"{"isEnded":false}"#, "no gateway has begun with it"),
            (#"{"lag":2}"#, "no gateway delivers it; 2 events behind"),
            (#"{"lag":0,"owner":"a"}"#, "delivered"), (#"{"lag":9,"owner":"a"}"#, "delivered"),
            (#"{"lag":1,"owner":"a","oldest":5}"#, "1 event behind"),
        ])
    func webhooks(webhook: String, state: String) throws {
        #expect(WebhookListCommand.state(of: try json(webhook)) == state)
    }

    @Test("a dead letter has its event as an object, beside what the line is")
    func deadLetters() throws {
        let letter = try json(
            #"{"number":1,"after":"a-1","time":1764080000000,"reason":"no","event":"{\"key\":\"user:b\"}"}"#)
        #expect(WebhookDeadLettersCommand.json(of: letter)["appEvent"]?["key"]?.text == "user:b")
        #expect(WebhookDeadLettersCommand.json(of: letter)["event"] == nil)
        #expect(
            line(WebhookDeadLettersCommand.columns(of: letter, transcript)) == "14:13:20|a-1|no|user:b")
    }

    @Test(
        "what doesn't go together is refused before anything is sent",
        arguments: [
            "user list --banned --prefix a", "user ban ann", "user ban ann --for 1", "user kick",
            "channel list --limit 0", "event tail --after a --from-oldest", "event tail --count 0",
            "history purge", "history purge a --user b", "webhook redeliver orders", "webhook verify",
            "webhook verify --secret-file a -H webhook-id",
        ])
    func mistakes(line: String) {
        #expect(throws: (any Error).self) {
            try RTMCommand.parseAsRoot(line.split(separator: " ").map(String.init))
        }
    }

    @Test("history shows, unless its next word is one of its commands")
    func history() throws {
        func command(_ words: String...) throws -> any ParsableCommand {
            try RTMCommand.parseAsRoot(["history"] + words)
        }
        #expect(try (command("lobby") as? HistoryShowCommand)?.channel == "lobby")
        #expect(try (command("show", "purge") as? HistoryShowCommand)?.channel == "purge")
        #expect(try (command("purge", "lobby") as? HistoryPurgeCommand)?.channel == "lobby")
        #expect(CommandName.refusal(of: ["history", "lobby"], in: RTMCommand.self) == nil)
    }
}
