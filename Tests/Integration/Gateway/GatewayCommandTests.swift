import Foundation
import NIOHTTP1
import RTMClient
import RTMTestSupport
import Testing

/// What a backend does, from a shell: `rtm` as it calls a gateway.
@Suite(.serialized, .ends(withinMinutes: 3)) struct GatewayCommandTests {
    @Test("W-28: lists show all pages, or as many rows as asked for; each JSON line says what it is")
    func lists() async throws {
        try await GatewaySystem.with { gateway in
            try await gateway.system.withClients("ann", "ben") { clients in
                for client in clients { try await client.subscribe(to: "room-0007") }
                // More than a page has.
                for start in stride(from: 0, to: 1_100, by: 1_000) {
                    let messages = (start..<min(start + 1_000, 1_100)).map { number in
                        let name = String("\(10_000 + number)".dropFirst())
                        return #"{"channel": "room-\#(name)", "message": "x"}"#
                    }
                    let body = #"{"messages": [\#(messages.joined(separator: ","))]}"#
                    #expect(try await gateway.call("POST", "/v1/dev/batch", body).status == 200)
                }
                let all = try await gateway.run("channel", "list", key: "read")
                #expect(all.status == 0 && all.output.count == 1_100 && all.errors == [])
                #expect(all.output[7].hasPrefix("room-0007\t2 subscribers\tnewest message "))
                let some = try await gateway.run(
                    "channel", "list", "--prefix", "room-00", "--limit", "3", "--json")
                #expect(some.output.count == 4, "\(some.output)")
                #expect(some.output[0].hasPrefix(#"{"event":"channel","#))
                #expect(some.output[3] == #"{"event":"result","result":"ok","total":100}"#)
                let one = try await gateway.run("channel", "show", "room-0007")
                #expect(one.output.count == 1 && one.output[0].contains("\t2 subscribers\t"))
                let none = try await gateway.run("channel", "list", "--stream")
                #expect(
                    none.status == 0 && none.output == [] && none.errors == ["rtm: there are no channels"])

                #expect(try await gateway.run("user", "list").output == ["ann", "ben"])
                let connections = try await gateway.run("connection", "list", "--prefix", "b", "--json")
                #expect(connections.output.count == 2 && connections.output[0].contains(#""user":"ben""#))
                #expect(try await gateway.run("connection", "list", "--limit", "1").output.count == 1)
                let usage = try await gateway.run("usage", "--json")
                #expect(usage.output.count == 1 && usage.output[0].hasPrefix(#"{"event":"usage","#))
                #expect(usage.output[0].contains(#""users":2"#))
                let keys = try await gateway.run("key", "list")
                #expect(keys.output.count { $0.contains("\tfor the app dev\t") } == 6, "\(keys)")
                #expect(keys.output.contains { $0.contains("\tmoderate\tnot used") })
                #expect(keys.output.contains { $0.contains("\tread\tused 20") })
                let key = try await gateway.run("key", "show", key: "chat")
                #expect(
                    key.output.first?.hasSuffix("\tfor the app dev\tadmin\tchannels that begin with 'chat-'")
                        == true)
            }
        }
    }

    @Test("W-29, W-30: kick, ban, unban, revoke-tokens and purge do it, and say what was done")
    func moderation() async throws {
        try await GatewaySystem.with { gateway in
            let ben = try gateway.system.client("ben")
            try await ben.login()
            let events = ben.events()
            let kicked = try await gateway.run("user", "kick", "ben", "--reason", "spam", key: "moderate")
            #expect(kicked.output == ["1 session of ben ended; ben may log in again"])
            for await event in events {
                guard case .linkState(let change) = event, change.currentState == .failed else { continue }
                #expect(change.reason.contains("spam"))
                break
            }
            await ben.close()
            let nobody = try await gateway.run("user", "kick", "nobody", key: "moderate")
            #expect(
                nobody.status == 1 && nobody.output == ["0 sessions of nobody ended; nobody may log in again"]
            )
            let banned = try await gateway.run("user", "ban", "ben", "--for", "1h", "--json")
            #expect(banned.output.first?.hasPrefix(#"{"event":"result","result":"ok","#) == true)
            #expect(banned.output.first?.contains(#""isDurable":true"#) == true)
            try await eventually("ben is listed as banned") {
                try await gateway.run("user", "list", "--banned").output.first?.hasPrefix("ben\tuntil ")
                    == true
            }
            let shown = try await gateway.run("user", "show", "ben")
            #expect(shown.output.first?.hasPrefix("ben\toffline\tbanned until ") == true, "\(shown)")
            #expect(try await gateway.run("user", "unban", "ben").output == ["ben may log in again"])
            let again = try await gateway.run("user", "unban", "ben")
            #expect(again.status == 1 && again.output == ["ben was not banned"])
            let none = try await gateway.run("user", "list", "--banned")
            #expect(none.output == [] && none.errors == ["rtm: nobody is banned"])
            let revoked = try await gateway.run(
                "user", "revoke-tokens", "ben", "--issued-before", "2026-01-01T00:00:00Z", "--for", "1h")
            #expect(revoked.output.first?.hasPrefix("tokens of ben from before 2026-01-01 ") == true)

            for word in ["a", "b"] {
                _ = try await gateway.system.run("publish", "lobby", word, "--history")
            }
            try await eventually("both are stored") {
                try await gateway.system.run("history", "lobby").output.count == 2
            }
            #expect(
                try await gateway.run("history", "purge", "lobby", "--before", "5").output == [
                    "0 messages removed"
                ])
            let purged = try await gateway.run("history", "purge", "lobby", "--json")
            #expect(purged.output == [#"{"event":"result","result":"ok","removed":2}"#])
            #expect(try await gateway.system.run("history", "lobby").output == [])
        }
    }

    @Test("what the gateway refuses has its name and status, and nothing on standard output")
    func refusals() async throws {
        try await GatewaySystem.with { gateway in
            for (words, key, reason) in [
                (["user", "kick", "a"], "read", #"this needs the scope "moderate" (missingScope 403)"#),
                (["channel", "list"], "other", "403)"),
                (["webhook", "list"], "chat", "(channelOutOfReach 403)"),
                (["usage"], "old", "401)"), (["webhook", "test", "x"], "admin", "(noSuchWebhook 404)"),
                (["webhook", "show", "x"], "admin", "the app dev has no webhook 'x'"),
                (["event", "tail", "--after", "x"], "admin", "(invalidQuery 400)"),
                (["event", "tail", "--types", "x"], "admin", "there is no type \"x\""),
            ] {
                let outcome = try await gateway.system.end(gateway.command(words, key: key))
                #expect(outcome.status == 1 && outcome.output == [], "\(words)")
                #expect(outcome.errors.count == 1 && outcome.errors[0].contains(reason), "\(outcome.errors)")
            }
            let json = try await gateway.run("usage", "--json", key: "moderate")
            let start =
                #"{"event":"error","error":{"code":0,"name":"missingScope","operation":"usage","reason":""#
            #expect(json.status == 1 && json.errors.first?.hasPrefix(start) == true, "\(json.errors)")
            // Nobody listens at port 1, an edge isn't a gateway, and a gateway without TLS doesn't speak it.
            let edge = gateway.system.address("edge")
            for (url, reason) in [
                ("http://127.0.0.1:1", "can't be reached: Connection refused; is a gateway running there?"),
                ("http://\(edge)", "is the address right?"),
                ("https://\(gateway.system.address("gateway"))", "TLS"),
            ] {
                let outcome = try await gateway.run("usage", "--gateway", url)
                #expect(outcome.status == 1 && outcome.errors.count == 1)
                #expect(outcome.errors.first?.contains(reason) == true, "\(url): \(outcome.errors)")
            }
            #expect(try await gateway.run("usage", "--gateway", "127.0.0.1:7750").status == 64)
        }
    }

    @Test("R-11: what came too early is sent again when the gateway says so")
    func rates() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "2", "--rates-app", "0"]) { gateway in
            let all = try await withThrowingTaskGroup(of: CommandOutcome.self) { group in
                for _ in 0..<8 { group.addTask { try await gateway.run("usage") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(all.allSatisfy { $0.status == 0 }, "\(all)")
        }
    }

    @Test("a context has the gateway and the file of the key, which goes to no other gateway")
    func contexts() async throws {
        try await GatewaySystem.with { gateway in
            let home = gateway.system.directory.appending(path: "home").path
            let file = gateway.system.directory.appending(path: "api.key")
            try Data((gateway.text(of: "read") + "\n").utf8).write(to: file)
            func rtm(_ words: String...) async throws -> CommandOutcome {
                try await gateway.system.end(
                    gateway.system.command(words, environment: ["HOME": home, "XDG_CONFIG_HOME": ""]))
            }
            let url = "http://\(gateway.system.address("gateway"))"
            let added = try await rtm(
                "context", "add", "backend", "--gateway", url, "--api-key-file", file.path)
            #expect(added.status == 0, "\(added.errors)")
            let shown = try await rtm("key", "show")
            #expect(shown.output.first?.contains("\tfor the app dev\tread") == true, "\(shown)")
            let listed = try await rtm("context", "list")
            #expect(listed.output.first?.contains("gateway \(url), with an API key") == true, "\(listed)")
            let stored = try String(contentsOfFile: home + "/.config/rtm/contexts.json", encoding: .utf8)
            #expect(!stored.contains("rtmk_"))
            try await TestReceiver.with { receiver in
                let other = "http://127.0.0.1:\(receiver.port)"
                let refused = try await rtm("key", "show", "--gateway", other)
                #expect(refused.errors.first?.contains("there is no API key for \(other)") == true)
                #expect(receiver.calls.isEmpty)
                // A redirect leads nowhere, either.
                receiver.answer { _ in .init(.temporaryRedirect, headers: ["Location": "\(url)/v1/keys/self"])
                }
                let redirected = try await rtm("key", "show", "--gateway", other, "--api-key-file", file.path)
                #expect(redirected.errors.first?.contains("the status 307") == true, "\(redirected)")
            }
            let names = try await rtm("---completion", "usage", "--", "--context", "1", "0", "rtm")
            #expect(names.output == ["backend"])
        }
    }

    @Test(
        "W-42: event tail shows each event once, also while the gateway is killed, and says where to continue"
    )
    func events() async throws {
        try await GatewaySystem.with(.fourProcesses, events: "1h") { gateway in
            func publish(_ numbers: ClosedRange<Int>) async throws {
                for number in numbers {
                    let answer = try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "a", "message": "\#(number)"}"#)
                    #expect(answer.status == 200)
                }
            }
            let tail = try gateway.command(
                ["event", "tail", "--types", "message.published", "--json", "--count", "6"], key: "read")
            #expect(await gateway.system.firstLine(of: tail).hasPrefix(#"{"event":"following","after":""#))
            try await publish(1...3)
            var lines: [String] = []
            for _ in 1...3 { lines.append(await gateway.system.firstLine(of: tail)) }
            let address = gateway.system.address("gateway")
            try await gateway.system.process("rtm-gateway").kill9()
            try await gateway.launch(listen: address)
            try await gateway.isReady()
            try await publish(4...6)
            let outcome = try await gateway.system.end(tail)
            #expect(outcome.status == 0, "\(outcome.errors)")
            lines += outcome.output
            let numbers = lines.compactMap { $0.firstMatch(of: #/"message":"(\d)"/#)?.1 }
            #expect(numbers == ["1", "2", "3", "4", "5", "6"], "\(lines)")
            let cursor = try #require(outcome.output.last?.firstMatch(of: #/"next":"([^"]+)"/#)?.1)

            try await publish(7...7)
            let rest = try await gateway.run(
                "event", "tail", "--after", String(cursor), "--prefix", "a", "--count", "1")
            #expect(
                rest.output.count == 1
                    && rest.output[0].hasSuffix("\tmessage.published\tmessage:a\t7\tserver: 7"))
            #expect(rest.errors.count == 1 && rest.errors[0].hasPrefix("rtm: continue with --after "))
            let oldest = try await gateway.run("event", "tail", "--from-oldest", "--count", "1")
            #expect(oldest.output.first?.hasSuffix("\tmessage:a\t1\tserver: 1") == true, "\(oldest.output)")

            let interrupted = try gateway.command(["event", "tail", "--after", String(cursor), "--json"])
            _ = await gateway.system.firstLine(of: interrupted)
            interrupted.interrupt()
            let end = try await gateway.system.end(interrupted)
            #expect(end.status == 0 && end.output.last?.contains(#""result":"ok","next":"#) == true)
        }
    }

    @Test("W-51: webhooks from a shell, and the signature of what arrived")
    func webhooks() async throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        try await TestReceiver.with { receiver in
            let url = "http://127.0.0.1:\(receiver.port)/in"
            let options = ["--webhooks-private-addresses", "127.0.0.1/32", "--webhooks-lease", "1s"]
            let entry = #"{app: dev, name: orders, url: "\#(url)", secret: "\#(secret)"}"#
            try await GatewaySystem.with(.standalone, options, events: "1h", webhooks: [entry]) { gateway in
                try await eventually("a gateway delivers", within: .seconds(20)) {
                    try await gateway.run("webhook", "list").output == ["orders\t\(url)\tdelivered"]
                }
                let test = try await gateway.run("webhook", "test", "orders")
                #expect(
                    test.status == 0 && test.output.first?.hasPrefix("answered with 200\t") == true, "\(test)"
                )
                _ = try await gateway.call("POST", "/v1/dev/publish", #"{"channel": "a", "message": "1"}"#)
                try await eventually("the event") { receiver.calls.count >= 2 }
                let call = try #require(receiver.calls.last)
                // What was attempted is kept a moment after the answer.
                try await eventually("the attempt is listed") {
                    try await gateway.run("webhook", "attempts", "orders").output.last?
                        .contains("\t1 event\tanswered with 200\t") == true
                }
                try await eventually("nothing is behind") {
                    let shown = try await gateway.run("webhook", "show", "orders").output
                    return shown.contains("state\tdelivered") && shown.contains("dead letters\t0")
                }
                let letters = try await gateway.run("webhook", "dead-letters", "orders")
                #expect(letters.output == [] && letters.errors == ["rtm: there are no dead letters"])

                let before = receiver.calls.count
                let oldest = try await gateway.run("event", "tail", "--from-oldest", "--count", "1", "--json")
                let id = try #require(oldest.output.first?.firstMatch(of: #/"id":"([a-z0-9]+)-1"/#)?.1)
                let moved = try await gateway.run("webhook", "redeliver", "orders", "--after", "\(id)-0")
                #expect(moved.output == ["orders continues behind \(id)-0"], "\(moved)")
                // It is noticed within a third of the lease, also while nothing happens in the app.
                try await eventually("it is sent again", within: .seconds(5) * timeScale) {
                    receiver.calls.count > before
                }
                receiver.answer { _ in .init(.internalServerError, body: "no") }
                let refused = try await gateway.run("webhook", "test", "orders")
                #expect(refused.status == 1 && refused.output.first?.hasSuffix("\tno") == true, "\(refused)")

                // The receiver's own check, and what it may have done wrong.
                let file = gateway.system.directory.appending(path: "orders.secret")
                try Data("\(secret)\n".utf8).write(to: file)
                func verify(_ body: String) async throws -> CommandOutcome {
                    let names = [
                        "webhook-id", "webhook-timestamp", "webhook-signature", "agora-signature-v2",
                    ]
                    let headers = names.flatMap { ["-H", "\($0): \(call.headers[$0].first ?? "")"] }
                    let input = Pipe()
                    let process = try gateway.system.command(
                        ["webhook", "verify", "--secret-file", file.path] + headers, input: input)
                    try input.fileHandleForWriting.write(contentsOf: Data(body.utf8))
                    try input.fileHandleForWriting.close()
                    return try await gateway.system.end(process)
                }
                let right = try await verify(call.body)
                #expect(right.status == 0 && right.output.count == 3, "\(right)")
                #expect(right.output.allSatisfy { $0.hasPrefix("ok ") })
                let wrong = try await verify(call.body + "\n")
                #expect(wrong.status == 1 && wrong.output.first?.contains("without the line end") == true)
            }
        }
        try await RunningSystem.with(.standalone) { system in
            let made = try await system.run("webhook", "secret")
            #expect(made.output.first?.wholeMatch(of: #/whsec_[A-Za-z0-9+\/]{43}=/#) != nil)
        }
    }
}
