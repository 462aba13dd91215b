import Foundation
import NIOHTTP1
import RTMClient
import RTMTestSupport
import Synchronization
import Testing

/// Webhooks of real gateways, at a receiver on a real socket.
@Suite(.serialized, .ends(withinMinutes: 8)) struct WebhookTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func entry(_ receiver: TestReceiver, _ more: String = "types: message.published") -> String {
        #"{app: dev, name: orders, url: "http://127.0.0.1:\#(receiver.port)/in", "#
            + #"secret: "\#(Self.secret)", \#(more)}"#
    }

    private func with(
        _ receiver: TestReceiver, _ more: String = "types: message.published",
        deployment: Deployment = .standalone, _ body: (GatewaySystem) async throws -> Void
    ) async throws {
        let options = ["--webhooks-private-addresses", "127.0.0.1/32", "--webhooks-lease", "1s"]
        try await GatewaySystem.with(deployment, options, events: "1h", webhooks: [entry(receiver, more)]) {
            gateway in
            try await begun(gateway)
            try await body(gateway)
        }
    }

    /// A new webhook begins with what happens next.
    private func begun(_ gateway: GatewaySystem) async throws {
        try await eventually("a gateway delivers", within: .seconds(20)) {
            try await gateway.call("GET", "/v1/dev/webhooks").string("webhooks", 0, "owner") != nil
        }
    }

    private struct Event: Decodable, Hashable {
        struct Message: Decodable, Hashable { let message: String? }
        /// A test has none, because nothing can follow it.
        var id: String?
        let type: String
        let key: String
        let number: Int
        var data: Message?
    }

    private func events(_ calls: [TestReceiver.Call]) throws -> [Event] {
        struct Body: Decodable { let events: [Event] }
        return try calls.flatMap { try JSONDecoder().decode(Body.self, from: Data($0.body.utf8)).events }
    }

    private func publish(_ gateway: GatewaySystem, _ channel: String, _ message: String) async throws {
        let answer = try await gateway.call(
            "POST", "/v1/dev/publish", #"{"channel": "\#(channel)", "message": "\#(message)"}"#)
        try #require(answer.status == 200, "\(answer.text)")
    }

    @Test("W-11, W-22: what is published arrives signed, as the configuration selects it")
    func delivers() async throws {
        try await TestReceiver.with { receiver in
            try await with(receiver, "types: message.published, channels: chat-") { gateway in
                try await publish(gateway, "other", "not for the webhook")
                for number in 1...5 { try await publish(gateway, "chat-1", "\(number)") }
                try await eventually("five events") { try events(receiver.calls).count >= 5 }
                let arrived = try events(receiver.calls)
                #expect(arrived.map(\.data?.message) == (1...5).map { "\($0)" })
                #expect(Set(arrived.map(\.key)) == ["message:chat-1"])
                #expect(zip(arrived, arrived.dropFirst()).allSatisfy { $1.number == $0.number + 1 })
                for call in receiver.calls {
                    #expect(call.headers["webhook-signature"].first?.hasPrefix("v1,") == true)
                    #expect(call.headers["agora-signature-v2"].first?.count == 64)
                }
                let list = try await gateway.call("GET", "/v1/dev/webhooks")
                #expect(list.int("webhooks", 0, "deadLetters") == 0)
                #expect(list.text.contains(Self.secret) == false)
            }
        }
    }

    @Test("webhooks are listed in pages, by name, or one of them")
    func pages() async throws {
        let names = (0..<105).map { "hook-\(1_000 + $0)" }
        let entries = names.map {
            "{app: dev, name: \($0), url: 'https://hooks.example.com/', secret: \(Self.secret)}"
        }
        try await GatewaySystem.with(events: "1h", webhooks: entries) { gateway in
            for limit in ["", "limit=1000", "limit=40"] {
                var (found, cursor) = ([String](), "")
                while true {
                    let page = try await gateway.call("GET", "/v1/dev/webhooks?\(limit)\(cursor)")
                    let rows = (page.value("webhooks") as? [[String: Any]]) ?? []
                    #expect(rows.count <= (limit == "limit=40" ? 40 : 100), "\(page.text)")
                    found += rows.compactMap { $0["name"] as? String }
                    guard let next = page.string("nextCursor") else { break }
                    cursor = "&cursor=\(next)"
                }
                #expect(found == names, "\(limit)")
            }
            let one = try await gateway.call("GET", "/v1/dev/webhooks?name=hook-1104")
            #expect(one.count("webhooks") == 1 && one.string("webhooks", 0, "name") == "hook-1104")
            #expect(try await gateway.call("GET", "/v1/dev/webhooks?name=none").count("webhooks") == 0)
            let list = try await gateway.run("webhook", "list")
            #expect(list.output.count == 105 && list.output[104].hasPrefix("hook-1104\t"), "\(list)")
            #expect(try await gateway.run("webhook", "show", "hook-1104").status == 0)
        }
    }

    @Test("W-51: test, the attempts, dead letters, 410 and redeliver")
    func operated() async throws {
        try await TestReceiver.with { receiver in
            try await with(receiver) { gateway in
                let test = try await gateway.call("POST", "/v1/dev/webhooks/orders/test")
                #expect(test.int("status") == 200)
                #expect(try events(receiver.calls).map(\.type) == ["webhook.test"])
                #expect(try await gateway.call("POST", "/v1/dev/webhooks/none/test").status == 404)
                #expect(try await gateway.call("GET", "/v1/dev/webhooks", key: "read").status == 403)

                for number in 1...3 { try await publish(gateway, "a", "\(number)") }
                try await eventually("three events") { try events(receiver.calls).count == 4 }
                let first = try #require(try events(receiver.calls).dropFirst().first)

                receiver.answer { _ in .init(.gone, body: "no more") }
                try await publish(gateway, "a", "4")
                try await eventually("it has ended") {
                    try await gateway.call("GET", "/v1/dev/webhooks").text.contains(#""isEnded":true"#)
                }
                let ended = try await gateway.call("GET", "/v1/dev/webhooks")
                #expect(ended.text.contains("no more") && ended.text.contains(#""status":410"#))
                #expect(ended.int("webhooks", 0, "lag") == 1)

                receiver.answer { _ in .init() }
                let before = receiver.calls.count
                let moved = try await gateway.call(
                    "POST", "/v1/dev/webhooks/orders/redeliver", #"{"after": "\#(first.id ?? "")"}"#)
                #expect(moved.status == 200, "\(moved.text)")
                try await eventually("what follows the first event", within: .seconds(20)) {
                    try events(Array(receiver.calls.dropFirst(before))).map(\.data?.message) == [
                        "2", "3", "4",
                    ]
                }
                let letters = try await gateway.call("GET", "/v1/dev/webhooks/orders/dead-letters")
                #expect(letters.count("letters") == 0)
            }
        }
    }

    @Test("W-50, W-52: a gateway is killed fifty times while the receiver comes and goes: nothing is lost")
    func killed() async throws {
        // 0: well; 1: refuses everything; 2: takes everything, and nobody learns of it.
        let mood = Mutex(0)
        let taken = Mutex<[TestReceiver.Call]>([])
        try await TestReceiver.with { receiver in
            receiver.answer { call in
                let mood = mood.withLock { $0 }
                if mood != 1 { taken.withLock { $0.append(call) } }
                return mood == 0 ? .init() : mood == 1 ? .init(.serviceUnavailable) : nil
            }
            try await with(receiver, deployment: .fourProcesses) { gateway in
                var sent = 0
                for round in 0..<50 {
                    mood.withLock { $0 = round % 3 }
                    for _ in 0..<10 {
                        try await publish(gateway, "c\(sent % 7)", "\(sent)")
                        sent += 1
                    }
                    try await gateway.system.process("rtm-gateway").kill9()
                    try await gateway.launch()
                    try await gateway.isReady()
                }
                mood.withLock { $0 = 0 }
                try await eventually("everything arrives", within: .seconds(60) * timeScale) {
                    try Set(events(taken.withLock { $0 }).compactMap(\.data?.message)).count == sent
                }
                try await eventually("and the position is kept", within: .seconds(20)) {
                    try await gateway.call("GET", "/v1/dev/webhooks").int("webhooks", 0, "lag") == 0
                }
                for (key, events) in try Dictionary(grouping: events(taken.withLock { $0 }), by: \.key) {
                    var last: Int?
                    for event in events where event.number > last ?? 0 {
                        if let last { #expect(event.number == last + 1, "\(key)") }
                        last = event.number
                    }
                }
            }
        }
    }
}
