import Foundation
import RTMClient
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
                #expect(first.status == 200 && first.text == again.text)
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
                #expect(batch.status == 200 && batch.text == batchAgain.text)
                _ = try await publish("8", nil)
                for number in 6...8 { #expect(await received.nextMessage()?.payload == .text("\(number)")) }
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
