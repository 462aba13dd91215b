import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// Backends publish over HTTP, and clients receive it.
@Suite(.serialized, .ends(withinMinutes: 2)) struct GatewayPublishTests {
    @Test(
        "W-2, W-3, W-20: what a backend publishes reaches real clients, as text and as bytes",
        arguments: Deployment.allCases)
    func publish(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            try await gateway.system.withClients("alice") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "lobby", features: .message)
                let text = try await gateway.call(
                    "POST", "/v1/dev/publish", key: "publish",
                    #"{"channel": "lobby", "message": "grüß\u0000 dich", "publisher": "backend", "customType": "note"}"#
                )
                #expect(text.status == 200 && text.int("offset") ?? 0 > 0)
                let message = try #require(await received.nextMessage())
                #expect(message.payload == .text("grüß\0 dich") && message.publisher == "backend")
                #expect(message.customType == "note")
                #expect(text.int("timestamp") == Int(message.timestampMilliseconds))

                let bytes = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"user": "alice", "data": "AAH/"}"#)
                #expect(bytes.status == 200)
                let inbox = try #require(await received.nextMessage())
                #expect(inbox.payload == .data(Data([0, 1, 255])) && inbox.publisher == "server")
            }
        }
    }

    @Test("a batch and a broadcast keep the order in each channel, and one that is refused holds up no other")
    func many() async throws {
        try await GatewaySystem.with { gateway in
            try await gateway.system.withClients("alice") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "a", features: .message)
                let messages = (0..<100).map { #"{"channel": "a", "message": "\#($0)"}"# }
                let wrong =
                    #"{"channel": "", "message": "x"}, {"channel": "a"}, {"user": "nobody", "message": "x"}"#
                let batch = try await gateway.call(
                    "POST", "/v1/dev/batch",
                    #"{"messages": [\#(messages.joined(separator: ",")), \#(wrong)]}"#)
                #expect(batch.status == 207 && batch.count("results") == 103)
                for index in 0..<100 {
                    #expect(batch.string("results", index, "channel") == "a")
                    #expect(await received.nextMessage()?.payload == .text("\(index)"))
                }
                #expect(batch.string("results", 100, "error", "name") == "invalidChannelName")
                #expect(batch.string("results", 101, "error", "name") == "invalidBody")
                #expect(batch.string("results", 102, "error", "name") == "channelReceiverOffline")

                let broadcast = try await gateway.call(
                    "POST", "/v1/dev/broadcast", #"{"channels": ["b", "a"], "message": "all"}"#)
                #expect(broadcast.status == 200 && broadcast.count("results") == 2)
                #expect(await received.nextMessage()?.payload == .text("all"))
            }
            let many = (0...1_000).map { #"{"channel": "a", "message": "\#($0)"}"# }.joined(separator: ",")
            let refused = try await gateway.call("POST", "/v1/dev/batch", #"{"messages": [\#(many)]}"#)
            #expect(refused.status == 400 && refused.error == "tooManyMessages")
            let none = try await gateway.call("POST", "/v1/dev/batch", #"{"messages": []}"#)
            #expect(none.status == 400 && none.error == "noMessages")
            let nowhere = try await gateway.call(
                "POST", "/v1/dev/broadcast", #"{"channels": [], "message": ""}"#)
            #expect(nowhere.status == 400 && nowhere.error == "noMessages")
            let nobody = try await gateway.call(
                "POST", "/v1/dev/publish", #"{"channel": "a", "message": "", "publisher": ""}"#)
            #expect(nobody.status == 400 && nobody.error == "invalidUserId")
        }
    }

    @Test(
        "M-25, W-24: the same Idempotency-Key publishes once and gets the same answer, another one publishes again"
    )
    func idempotency() async throws {
        try await GatewaySystem.with { gateway in
            try await gateway.system.withClients("alice") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "a", features: .message)
                func publish(_ text: String, _ idempotencyKey: String?, key: String = "admin") async throws
                    -> GatewaySystem.Answer
                {
                    try await gateway.call(
                        "POST", "/v1/dev/publish", key: key, #"{"channel": "a", "message": "\#(text)"}"#,
                        headers: idempotencyKey.map { ["Idempotency-Key": $0] } ?? [:])
                }
                for wrong in ["", "a b", "ü", String(repeating: "a", count: 256)] {
                    #expect(try await publish("0", wrong).error == "invalidIdempotencyKey", "\(wrong)")
                }
                let first = try await publish("1", "one")
                let again = try await publish("1", "one")
                #expect(first.status == 200 && again.status == 200)
                for name in ["epoch", "offset", "timestamp"] {
                    #expect(first.int(name) ?? 0 > 0 && first.int(name) == again.int(name), "\(name)")
                }
                #expect(first.value("replayed") == nil && again.value("replayed") as? Bool == true)
                #expect(first.int("rememberedFor") ?? 0 >= 120 && again.int("rememberedFor") ?? 0 >= 120)
                #expect(try await publish("2", "two").int("offset") ?? 0 > first.int("offset") ?? 0)
                // The keys of another API key are its own.
                _ = try await publish("3", "one", key: "publish")
                for text in ["4", "5"] { _ = try await publish(text, nil) }
                for number in 1...5 { #expect(await received.nextMessage()?.payload == .text("\(number)")) }

                let stored = #"{"channel": "s", "message": "1", "store": true}"#
                for _ in 0..<2 {
                    let answer = try await gateway.call(
                        "POST", "/v1/dev/publish", stored, headers: ["Idempotency-Key": "stored"])
                    #expect(answer.status == 200)
                }
                #expect(try await gateway.call("GET", "/v1/dev/history?channel=s").count("messages") == 1)

                let body =
                    #"{"messages": [{"channel": "a", "message": "6"}, {"channel": "a", "message": "7"}]}"#
                let header = ["Idempotency-Key": "batch"]
                let batch = try await gateway.call("POST", "/v1/dev/batch", body, headers: header)
                let batchAgain = try await gateway.call("POST", "/v1/dev/batch", body, headers: header)
                #expect(batch.status == 200 && batchAgain.status == 200)
                for index in 0..<2 {
                    #expect(
                        batch.int("results", index, "offset") == batchAgain.int("results", index, "offset"))
                    #expect(batch.value("results", index, "replayed") == nil)
                    #expect(batchAgain.value("results", index, "replayed") as? Bool == true)
                }
                // What the first request had is not to be taken for what the second one has.
                let other = try await publish("other", "one")
                #expect(other.status == 422 && other.error == "idempotencyKeyReused", "\(other.text)")
                let retry = try await gateway.call(
                    "POST", "/v1/dev/batch", #"{"messages": [{"channel": "a", "message": "7"}]}"#,
                    headers: header)
                #expect(retry.status == 207, "\(retry.text)")
                #expect(retry.string("results", 0, "error", "name") == "idempotencyKeyReused")
                let own = #"{"channel": "a", "message": "8", "idempotencyKey": "eight"}"#
                for rest in ["", #", {"channel": "a", "message": "9"}"#] {
                    let answer = try await gateway.call(
                        "POST", "/v1/dev/batch", #"{"messages": [\#(own)\#(rest)]}"#)
                    #expect(answer.status == 200, "\(answer.text)")
                }
                let replay = try await gateway.call("POST", "/v1/dev/publish", own)
                #expect(replay.value("replayed") as? Bool == true)
                for number in 6...9 { #expect(await received.nextMessage()?.payload == .text("\(number)")) }
            }
        }
    }

    @Test(
        "W-26, W-27: a publish that expects something else is refused with what is there",
        arguments: Deployment.allCases)
    func conditions(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            try await gateway.system.withClients("alice") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "a", features: [.message, .presence])
                func publish(_ text: String, _ rest: String = "", key: String? = nil) async throws
                    -> GatewaySystem.Answer
                {
                    try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "a", "message": "\#(text)"\#(rest)}"#,
                        headers: key.map { ["Idempotency-Key": $0] } ?? [:])
                }
                let first = try await publish("1")
                let (epoch, offset) = (try #require(first.int("epoch")), try #require(first.int("offset")))
                func expecting(_ offset: Int) -> String { #", "ifEpoch": \#(epoch), "ifOffset": \#(offset)"# }
                let late = try await publish("late", expecting(0))
                #expect(late.status == 409 && late.error == "outdatedOffset", "\(late.text)")
                #expect(late.int("error", "conflict", "epoch") == epoch)
                #expect(late.int("error", "conflict", "offset") == offset)
                // Somebody comes in: that is no newer message.
                try await gateway.system.withClients("bob") { clients in
                    try await clients[0].subscribe(to: "a")
                    let second = try await publish("2", expecting(offset), key: "second")
                    #expect(second.status == 200, "\(second.text)")
                }
                let again = try await publish("2", expecting(offset), key: "second")
                #expect(again.status == 200 && again.value("replayed") as? Bool == true)

                #expect(try await publish("3", #", "version": 7"#).status == 200)
                let old = try await publish("old", #", "version": 7"#)
                #expect(old.status == 409 && old.error == "outdatedVersion", "\(old.text)")
                #expect(old.int("error", "conflict", "version") == 7)
                #expect(try await publish("4", #", "version": 1, "versionEpoch": "b""#).status == 200)
                let batch = try await gateway.call(
                    "POST", "/v1/dev/batch",
                    #"{"messages": [{"channel": "a", "message": "x", "version": 1, "versionEpoch": "b"}, "#
                        + #"{"channel": "a", "message": "5", "version": 2, "versionEpoch": "b"}]}"#)
                #expect(
                    batch.status == 207
                        && batch.string("results", 0, "error", "name") == "outdatedVersion"
                        && batch.int("results", 1, "epoch") == epoch)
                let broadcast = try await gateway.call(
                    "POST", "/v1/dev/broadcast",
                    #"{"channels": ["b", "a"], "message": "y", "version": 2, "versionEpoch": "b"}"#)
                #expect(broadcast.status == 207 && broadcast.int("results", 0, "offset") ?? 0 > 0)
                for number in 1...5 { #expect(await received.nextMessage()?.payload == .text("\(number)")) }
                for wrong in [
                    #", "ifOffset": 1"#, #", "ifEpoch": 1"#, #", "version": 0"#, #", "versionEpoch": "a""#,
                    #", "version": 1, "versionEpoch": "é""#, #", "version": -1"#,
                ] {
                    #expect(try await publish("x", wrong).error == "invalidBody", "\(wrong)")
                }
            }
        }
    }

    @Test("W-26: of many that expect the same, one is published")
    func race() async throws {
        try await GatewaySystem.with { gateway in
            let first = try await gateway.call("POST", "/v1/dev/publish", #"{"channel": "a", "message": ""}"#)
            let (epoch, offset) = (try #require(first.int("epoch")), try #require(first.int("offset")))
            let answers = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await gateway.call(
                            "POST", "/v1/dev/publish",
                            #"{"channel": "a", "message": "\#(number)", "ifEpoch": \#(epoch), "#
                                + #""ifOffset": \#(offset)}"#
                        ).status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(answers.count { $0 == 200 } == 1 && answers.count { $0 == 409 } == 19)
        }
    }

    @Test("W-30, H-11: what is purged is gone, also after a restart of storage, and the answer says how much")
    func purge() async throws {
        try await GatewaySystem.with(.fourProcesses) { gateway in
            func publish(_ text: String, to target: String) async throws -> Int {
                let answer = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{\#(target), "message": "\#(text)", "store": true}"#)
                return answer.int("timestamp") ?? 0
            }
            func stored(_ target: String) async throws -> Int? {
                try await gateway.call("GET", "/v1/dev/history?\(target)&limit=100").count("messages")
            }
            // More than storage removes in one write.
            let many = (0..<600).map { #"{"channel": "m", "message": "\#($0)", "store": true}"# }
            let batch = try await gateway.call(
                "POST", "/v1/dev/batch", #"{"messages": [\#(many.joined(separator: ","))]}"#)
            #expect(batch.status == 200, "\(batch.text.prefix(300))")
            let all = try await gateway.call("DELETE", "/v1/dev/history?channel=m", key: "moderate")
            #expect(all.status == 200 && all.int("removed") == 600, "\(all.text)")
            #expect(try await stored("channel=m") == 0)

            var times: [Int] = []
            for number in 0..<4 { times.append(try await publish("\(number)", to: #""channel": "h""#)) }
            _ = try await publish("other", to: #""channel": "i""#)
            let old = try await gateway.call("DELETE", "/v1/dev/history?channel=h&before=\(times[2])")
            #expect(old.int("removed") == 2, "\(old.text)")
            #expect(try await stored("channel=h") == 2)
            try await gateway.system.process("rtm-storage").kill9()
            try await gateway.system.launchStorage()
            try await gateway.isReady()
            #expect(try await stored("channel=h") == 2)
            #expect(try await stored("channel=i") == 1)
            #expect(try await gateway.call("DELETE", "/v1/dev/history?channel=none").int("removed") == 0)
            for wrong in ["channel=h&before=0", "channel=h&before=-1", "channel=h&before=x"] {
                let answer = try await gateway.call("DELETE", "/v1/dev/history?\(wrong)")
                #expect(answer.error == "invalidQuery", "\(wrong)")
            }
        }
    }

    @Test("M-27, M-32: a stored message is in the history, page by page, also of a user who is offline")
    func history() async throws {
        try await GatewaySystem.with { gateway in
            for number in 0..<5 {
                let answer = try await gateway.call(
                    "POST", "/v1/dev/publish",
                    #"{"channel": "a b+c", "message": "\#(number)", "store": true}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
            let page = try await gateway.call("GET", "/v1/dev/history?channel=a+b%2Bc&limit=2", key: "read")
            #expect(page.string("messages", 0, "message") == "4" && page.count("messages") == 2)
            let before = try #require(page.int("nextBefore"))
            let next = try await gateway.call(
                "GET", "/v1/dev/history?channel=a%20b%2Bc&limit=5&before=\(before)", key: "read")
            #expect(next.string("messages", 0, "message") == "2" && next.count("messages") == 3)
            #expect(next.int("nextBefore") == nil)

            let offline = try await gateway.call(
                "POST", "/v1/dev/publish", #"{"user": "bob", "data": "AP8=", "store": true}"#)
            #expect(
                offline.status == 409 && offline.error == "channelReceiverOfflineButMessageStoreSucceeded")
            let inbox = try await gateway.call("GET", "/v1/dev/history?user=bob", key: "read")
            #expect(inbox.string("messages", 0, "data") == "AP8=")
            #expect(inbox.value("messages", 0, "message") == nil)
        }
    }

    @Test("W-2, W-3, W-5: the public paths take and give what they do there")
    func vendor() async throws {
        try await GatewaySystem.with { gateway in
            try await gateway.system.withClients("alice") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "lobby", features: .message)
                let users = "/dev/v2/project/dev/rtm/users/backend"
                let basic = Data("id:\(gateway.text(of: "publish"))".utf8).base64EncodedString()
                let toChannel = try await gateway.call(
                    "POST", "\(users)/channel_messages", key: nil,
                    #"{"channel_name": "lobby", "payload": "1", "enable_historical_messaging": true, "more": 1}"#,
                    headers: ["Authorization": "Basic \(basic)"])
                #expect(toChannel.status == 200 && toChannel.string("code") == "message_sent")
                #expect(toChannel.string("result") == "success" && toChannel.string("request_id") != nil)
                let message = try #require(await received.nextMessage())
                #expect(message.payload == .text("1") && message.publisher == "backend")

                for (user, wait, code) in [
                    ("alice", "?wait_for_ack=true", "message_delivered"), ("alice", "", "message_sent"),
                    ("nobody", "?wait_for_ack=true", "message_offline"), ("nobody", "", "message_sent"),
                ] {
                    let answer = try await gateway.call(
                        "POST", "\(users)/peer_messages\(wait)",
                        #"{"destination": "\#(user)", "payload": "2"}"#)
                    #expect(answer.status == 200 && answer.string("code") == code, "\(answer.text)")
                }
                let history = try await gateway.call(
                    "GET",
                    "/rtm/v2/history/dev/userId/backend/channelType/message/channel/lobby?messageCount=10")
                #expect(history.string("data", "messageList", 0, "message") == "1")
                #expect(history.int("data", "count") == 1 && history.int("errorCode") == 200)
                #expect(history.string("data", "messageList", 0, "messageType") == "STRING")
            }
        }
    }

    @Test("a message, a name and a body that are too long are refused with what is allowed")
    func long() async throws {
        try await GatewaySystem.with(.standalone, ["--body-bytes-max", "64KiB"]) { gateway in
            func publish(_ count: Int) async throws -> GatewaySystem.Answer {
                try await gateway.call(
                    "POST", "/v1/dev/publish",
                    #"{"channel": "a", "message": "\#(String(repeating: "x", count: count))"}"#)
            }
            #expect(try await publish(Limits.messageBytesMax).status == 200)
            let refused = try await publish(Limits.messageBytesMax + 1)
            #expect(refused.status == 400 && refused.error == "channelMessageLengthExceedLimitation")
            #expect(refused.int("error", "limit", "value") == Limits.messageBytesMax)
            let long = try await publish(64 << 10)
            #expect(long.status == 413 && long.error == "bodyTooLong")
            let vendor = try await gateway.call(
                "POST", "/dev/v2/project/dev/rtm/users/a/channel_messages",
                #"{"channel_name": "a", "payload": "\#(String(repeating: "x", count: 64 << 10))"}"#)
            #expect(vendor.status == 413)
            let name = try await gateway.call(
                "POST", "/v1/dev/publish",
                #"{"channel": "\#(String(repeating: "x", count: 65))", "message": ""}"#)
            #expect(name.status == 400)
        }
    }
}
