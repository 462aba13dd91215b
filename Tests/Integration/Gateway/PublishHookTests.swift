import Foundation
import NIOCore
import NIOHTTP1
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Synchronization
import Testing

/// The hook before publishing, asked by real programs at a receiver on a real socket.
@Suite(.serialized, .ends(withinMinutes: 5)) struct PublishHookTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    private func entry(_ port: Int, _ more: String = "deadline: 2s") -> String {
        #"{app: dev, url: "http://127.0.0.1:\#(port)/ask", secret: "\#(Self.secret)", \#(more)}"#
    }

    private struct Question: Decodable {
        let app: String
        let channel: String?
        let user: String?
        let publisher: String
        let message: String?
        let id: String
    }

    private static func question(_ call: TestReceiver.Call) -> Question? {
        try? JSONDecoder().decode(Question.self, from: Data(call.body.utf8))
    }

    /// Refuses "spam", masks "rude", lets "slow" wait, and allows everything else.
    @Sendable private static func judge(_ call: TestReceiver.Call) -> TestReceiver.Answer? {
        let text = question(call)?.message ?? ""
        if text.contains("spam") { return .init(body: #"{"allow": false, "reason": "no spam here"}"#) }
        if text.contains("rude") { return .init(body: #"{"allow": true, "message": "****"}"#) }
        if text.contains("never") { return nil }
        return .init(
            body: #"{"allow": true}"#, delay: text.contains("slow") ? .milliseconds(600) : .nanoseconds(0))
    }

    private func refusal(_ publish: () async throws -> Void) async -> RTMError? {
        do {
            try await publish()
            return nil
        } catch {
            return error as? RTMError
        }
    }

    @Test(
        "W-70, W-74: what clients and backends publish is published, changed or refused, as the hook says",
        arguments: Deployment.allCases)
    func judges(deployment: Deployment) async throws {
        try await TestReceiver.with(answer: Self.judge) { receiver in
            try await GatewaySystem.with(deployment, hooks: [entry(receiver.port)]) { gateway in
                try await gateway.system.withClients("alice", "ben") { clients in
                    var received = clients[1].events().makeAsyncIterator()
                    try await clients[1].subscribe(to: "lobby", features: .message)
                    try await clients[0].publish("hello", to: .channel("lobby"))
                    try await clients[0].publish(
                        "something rude", to: .channel("lobby"), storeInHistory: true)
                    let refusal = await refusal {
                        try await clients[0].publish("spam", to: .channel("lobby"))
                    }
                    #expect(refusal?.code == .channelPublishMessageFailed && refusal?.retryAfter == nil)
                    #expect(refusal?.reason == "the app's hook refuses the message: no spam here")
                    try await clients[0].publish("to you, rude", to: .user("ben"))
                    try await clients[0].publish(Data([1, 2, 255]), to: .channel("lobby"))
                    for payload in [
                        MessagePayload.text("hello"), .text("****"), .text("****"), .data(Data([1, 2, 255])),
                    ] {
                        #expect(await received.nextMessage()?.payload == payload)
                    }
                    let stored = try await gateway.call("GET", "/v1/dev/history?channel=lobby")
                    #expect(stored.text.contains("****") && !stored.text.contains("something"))

                    let published = try await gateway.call(
                        "POST", "/v1/dev/batch",
                        #"{"messages": [{"channel": "lobby", "message": "1"}, "#
                            + #"{"channel": "lobby", "message": "spam"}, "#
                            + #"{"channel": "lobby", "message": "rude 3"}]}"#)
                    #expect(published.status == 207)
                    #expect(published.string("results", 1, "error", "name") == "refusedByHook")
                    #expect(await received.nextMessage()?.payload == .text("1"))
                    #expect(await received.nextMessage()?.payload == .text("****"))
                    let refused = try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "lobby", "message": "spam"}"#)
                    #expect(refused.status == 403 && refused.int("error", "code") == -11_024)
                    #expect(refused.string("error", "reason")?.hasSuffix(": no spam here") == true)
                }
                let questions = receiver.calls.compactMap(Self.question)
                #expect(questions.count == receiver.calls.count && questions.count == 9)
                #expect(questions.contains { $0.user == "ben" && $0.publisher == "alice" })
                #expect(Set(questions.map(\.id)).count == 9)
                for call in receiver.calls {
                    #expect(call.headers["webhook-signature"].first?.hasPrefix("v1,") == true)
                    #expect(call.headers["agora-signature-v2"].first?.count == 64)
                }
            }
        }
    }

    @Test("M-24, W-71: what follows a held message in its channel waits, and other channels and users pass")
    func passing() async throws {
        try await TestReceiver.with(answer: Self.judge) { receiver in
            try await GatewaySystem.with(hooks: [entry(receiver.port)]) { gateway in
                try await gateway.system.withClients("alice", "ben", "carl") { clients in
                    var received = clients[2].events().makeAsyncIterator()
                    for channel in ["a", "b"] {
                        try await clients[2].subscribe(to: channel, features: .message)
                    }
                    async let slow = clients[0].publish("slow 1", to: .channel("a"))
                    try await eventually("the hook is asked") { receiver.calls.count == 1 }
                    async let behind = clients[0].publish("quick 2", to: .channel("a"))
                    try await clients[0].publish("other channel", to: .channel("b"))
                    try await clients[1].publish("other user", to: .channel("a"))
                    _ = try await (slow, behind)
                    var texts: [String] = []
                    while texts.count < 4, case .text(let text)? = await received.nextMessage()?.payload {
                        texts.append(text)
                    }
                    #expect(texts == ["other channel", "other user", "slow 1", "quick 2"])
                }
            }
        }
    }

    @Test("W-72: beyond 64 messages on hold a session's next one is refused, and others are not")
    func limit() async throws {
        try await TestReceiver.with(answer: Self.judge) { receiver in
            try await GatewaySystem.with(
                edge: ["--edge-rates-publish", "0"],
                hooks: [entry(receiver.port, "deadline: 2s, onFailure: publish")]
            ) { gateway in
                try await gateway.system.withClients("alice", "ben") { clients in
                    let codes = await withTaskGroup(of: ErrorCode?.self) { group in
                        for number in 0..<70 {
                            group.addTask {
                                await refusal {
                                    try await clients[0].publish("never \(number)", to: .channel("a"))
                                }?.code
                            }
                        }
                        return await group.reduce(into: [ErrorCode?]()) { $0.append($1) }
                    }
                    #expect(codes.count { $0 == .operationRateExceedLimitation } == 6)
                    #expect(codes.count { $0 == nil } == 64)
                    try await clients[1].publish("hello", to: .channel("a"))
                }
            }
        }
    }

    @Test(
        "W-73, W-75: a hook that fails refuses for the moment; clients send again by themselves when it is back"
    )
    func failClosed() async throws {
        let answers = Mutex<[TestReceiver.Answer?]>([
            .init(.internalServerError), .init(body: "garbage"), nil, .init(.serviceUnavailable),
        ])
        try await TestReceiver.with { _ in
            answers.withLock { $0.isEmpty ? .init(body: #"{"allow": true}"#) : $0.removeFirst() }
        } _: { receiver in
            try await GatewaySystem.with(.fourProcesses, hooks: [entry(receiver.port)]) {
                gateway in
                var outageBegan = ContinuousClock.now
                for number in 0..<4 {
                    if number == 3 { outageBegan = .now }
                    let refused = try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "a", "message": "x"}"#)
                    #expect(refused.status == 503 && refused.headers["retry-after"] != nil)
                    #expect(refused.int("error", "code") == -11_024)
                    // What the operator may know isn't for the backend of an app.
                    #expect(!refused.text.contains("127.0.0.1"))
                }
                // Three failures in a row were an outage, so nobody was asked about the fourth message,
                // unless this machine is so busy that the time for the next question had come.
                #expect(receiver.calls.count == 3 || .now - outageBegan >= .milliseconds(500))
                let process = try gateway.system.process("rtm-gateway")
                try await eventually("the outage is in the log") {
                    process.log.contains("the hook before publishing is away")
                }
                // The edge finds out for itself: 503 is an outage at once.
                try await gateway.system.withClients("alice") { clients in
                    let receipt = try await clients[0].publish("again and again", to: .channel("a"))
                    #expect(receipt.offset > 0)
                    #expect(receiver.calls.count == 5)
                    try await clients[0].publish("at once", to: .channel("a"))
                }
                try await eventually("the gateway asks again") {
                    try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "a", "message": "x"}"#
                    ).status == 200
                }
            }
        }
    }

    @Test(
        "W-73, W-75: with onFailure: publish, messages pass a hook that is away, and only one in a while waits"
    )
    func failOpen() async throws {
        var port = 0
        try await TestReceiver.with { port = $0.port }
        try await GatewaySystem.with(hooks: [entry(port, "deadline: 3s, onFailure: publish")]) { gateway in
            try await gateway.system.withClients("alice", "ben") { clients in
                var received = clients[1].events().makeAsyncIterator()
                try await clients[1].subscribe(to: "lobby", features: .message)
                let start = ContinuousClock.now
                for number in 0..<5 { try await clients[0].publish("spam \(number)", to: .channel("lobby")) }
                #expect(.now - start < .seconds(3), "each message waits for a hook that is away")
                for number in 0..<5 {
                    #expect(await received.nextMessage()?.payload == .text("spam \(number)"))
                }
                try await TestReceiver.with(port: port, answer: Self.judge) { receiver in
                    try await eventually("the hook is asked again", within: .seconds(15)) {
                        await refusal { try await clients[0].publish("spam", to: .channel("lobby")) } != nil
                    }
                    #expect(!receiver.calls.isEmpty)
                }
            }
        }
    }

    @Test("W-53, W-70: a hook at a private address that isn't allowed is not called")
    func addresses() async throws {
        try await TestReceiver.with(answer: Self.judge) { receiver in
            try await GatewaySystem.with(
                .fourProcesses, hooks: [entry(receiver.port)], privateAddresses: ""
            ) { gateway in
                let refused = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"channel": "a", "message": "x"}"#)
                #expect(refused.status == 503)
                try await gateway.system.withClients("alice") { clients in
                    let publish = Task { try await clients[0].publish("x", to: .channel("a")) }
                    try await eventually("the edge finds the address private") {
                        try gateway.system.process("rtm-edge").log.contains("hooks.privateAddresses")
                    }
                    publish.cancel()
                }
                #expect(receiver.calls.isEmpty)
            }
        }
    }

    @Test(
        "W-76: a hook is added, limited to channels and removed while sessions are there",
        arguments: Deployment.allCases)
    func reload(deployment: Deployment) async throws {
        try await TestReceiver.with(answer: Self.judge) { receiver in
            try await GatewaySystem.with(deployment) { gateway in
                try await gateway.system.withClients("alice") { clients in
                    try await clients[0].publish("spam", to: .channel("chat-1"))
                    try await gateway.replaceHooks([entry(receiver.port, "channels: chat-")])
                    try await eventually("the hook is asked") {
                        await refusal { try await clients[0].publish("spam", to: .channel("chat-1")) } != nil
                    }
                    let asked = receiver.calls.count
                    try await clients[0].publish("spam", to: .channel("other"))
                    let other = try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "other", "message": "spam"}"#)
                    #expect(other.status == 200 && receiver.calls.count == asked)
                    try await gateway.replaceHooks([])
                    try await eventually("nobody is asked any more") {
                        await refusal { try await clients[0].publish("spam", to: .channel("chat-1")) } == nil
                    }
                    let chat = try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "chat-1", "message": "spam"}"#)
                    #expect(chat.status == 200)
                }
            }
        }
    }

    @Test("W-24, W-77: a request that is sent again gets its first answer, whatever the hook says now")
    func again() async throws {
        let verdicts = Mutex([
            #"{"allow": true, "message": "first"}"#, #"{"allow": true, "message": "second"}"#,
            #"{"allow": false}"#,
        ])
        try await TestReceiver.with { _ in
            .init(body: verdicts.withLock { $0.removeFirst() })
        } _: { receiver in
            try await GatewaySystem.with(hooks: [entry(receiver.port)]) { gateway in
                try await gateway.system.withClients("alice") { clients in
                    var received = clients[0].events().makeAsyncIterator()
                    try await clients[0].subscribe(to: "a", features: .message)
                    var offsets: [Int?] = []
                    for _ in 0..<3 {
                        let answer = try await gateway.call(
                            "POST", "/v1/dev/publish", #"{"channel": "a", "message": "x"}"#,
                            headers: ["Idempotency-Key": "one"])
                        #expect(answer.status == 200, "\(answer.text)")
                        offsets.append(answer.int("offset"))
                    }
                    #expect(Set(offsets).count == 1)
                    #expect(await received.nextMessage()?.payload == .text("first"))
                    try await gateway.replaceHooks([])
                    _ = try await gateway.call(
                        "POST", "/v1/dev/publish", #"{"channel": "a", "message": "last"}"#)
                    #expect(await received.nextMessage()?.payload == .text("last"))
                }
                let ids = receiver.calls.map { $0.headers["webhook-id"] }
                #expect(ids.count == 3 && Set(ids).count == 1, "a repetition can be recognised")
            }
        }
    }
}
