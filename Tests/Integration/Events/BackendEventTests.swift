import Foundation
import RTMClient
import RTMTestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Backends read what happened in their app.
@Suite(.serialized, .ends(withinMinutes: 3)) struct BackendEventTests {
    /// An app's events from a cursor on, until the body has seen enough.
    private func read(
        _ gateway: GatewaySystem, after cursor: String?, until isDone: ([[String: Any]]) -> Bool
    ) async throws -> (events: [[String: Any]], next: String) {
        var (events, next) = ([[String: Any]](), cursor)
        try await eventually("the events are there", within: .seconds(60)) {
            let after = next.map { "&after=\($0)" } ?? ""
            let page = try await gateway.call("GET", "/v1/dev/events?wait=1s&limit=1000\(after)", key: "read")
            #expect(page.status == 200, "\(page.text)")
            events += page.value("events") as? [[String: Any]] ?? []
            next = page.string("next") ?? next
            return isDone(events)
        }
        return (events, try #require(next))
    }

    private func types(_ events: [[String: Any]], of key: String) -> [String] {
        events.filter { $0["key"] as? String == key }.compactMap { $0["type"] as? String }
    }

    /// The cursor behind everything that has been collected.
    private func latest(_ gateway: GatewaySystem) async throws -> String {
        let first = try await gateway.call("GET", "/v1/dev/events?after=latest", key: "read")
        #expect(first.status == 200 && first.count("events") == 0, "\(first.text)")
        return try #require(first.string("next"))
    }

    /// Publishes until an event shows that they are collected.
    private func begin(_ gateway: GatewaySystem) async throws -> String {
        try await eventually("events are collected") {
            _ = try await gateway.call("POST", "/v1/dev/publish", #"{"channel": "begin", "message": "x"}"#)
            return try await gateway.call("GET", "/v1/dev/events", key: "read").count("events") ?? 0 > 0
        }
        return try await latest(gateway)
    }

    @Test(
        "W-4, W-40 to W-43: messages, presence, metadata and locks of clients and backends come as events, in their order",
        arguments: Deployment.allCases)
    func events(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment, events: "1h") { gateway in
            let start = try await begin(gateway)
            try await gateway.system.withClients("alice") { clients in
                try await clients[0].subscribe(to: "lobby", features: [.message, .presence])
                try await clients[0].publish("hello", to: .channel("lobby"))
                _ = try await gateway.call(
                    "PUT", "/v1/dev/metadata?channel=lobby", #"{"items": [{"key": "k", "value": "v"}]}"#)
                _ = try await gateway.call("PUT", "/v1/dev/locks/l?channel=lobby", #"{"ttl": 10}"#)
                // Storage announces its changes after they are acknowledged.
                _ = try await read(gateway, after: start) {
                    types($0, of: "message:lobby").contains("lock.changed")
                }
                _ = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"channel": "lobby", "data": "AAH/", "customType": "note"}"#)
                _ = try await gateway.call("POST", "/v1/dev/publish", #"{"user": "alice", "message": "you"}"#)
                try await clients[0].unsubscribe(from: "lobby")
                let (events, next) = try await read(gateway, after: start) { events in
                    types(events, of: "message:lobby").contains("channel.vacated")
                        && types(events, of: "user:alice").contains("message.published")
                }
                #expect(
                    types(events, of: "message:lobby") == [
                        "channel.occupied", "channel.joined", "message.published", "metadata.changed",
                        "lock.changed", "message.published", "channel.left", "channel.vacated",
                    ])
                let own = events.filter { $0["key"] as? String == "message:lobby" }
                #expect(own.compactMap { $0["number"] as? Int } == Array(1...8))
                func data(_ index: Int) -> [String: Any] { own[index]["data"] as? [String: Any] ?? [:] }
                #expect(data(1)["users"] as? [String] == ["alice"])
                #expect(
                    data(2)["message"] as? String == "hello" && data(2)["publisher"] as? String == "alice")
                #expect(data(3)["revision"] as? Int == 1)
                #expect(data(4)["change"] as? String == "set")
                #expect(data(5)["data"] as? String == "AAH/" && data(5)["customType"] as? String == "note")
                #expect(
                    types(events, of: "user:alice").filter { $0.hasPrefix("session") } == ["session.login"])
                // The cursor of each event is its id, and what follows is the same whoever asks.
                let middle = try #require(own[3]["id"] as? String)
                let again = try await gateway.call(
                    "GET", "/v1/dev/events?after=\(middle)&types=message.published&channels=lob", key: "read")
                #expect(again.count("events") == 1 && again.string("events", 0, "data", "data") == "AAH/")
                #expect(try await latest(gateway) == next)
            }
        }
    }

    @Test(
        "W-45: logins, logouts and losses are events, also where the edge has died", arguments: [false, true])
    func sessions(isKilled: Bool) async throws {
        try await GatewaySystem.with(.fourProcesses, events: "1h") { gateway in
            let start = try await begin(gateway)
            let client = try gateway.system.client("bob") { $0.presenceTimeout = .seconds(5) }
            try await client.login()
            let (before, place) = try await read(gateway, after: start) { !types($0, of: "user:bob").isEmpty }
            #expect(types(before, of: "user:bob") == ["session.login"])
            let channels = try await gateway.call("GET", "/v1/dev/users/bob/channels", key: "read")
            #expect(channels.count("channels") == 0, "the roster of sessions is no channel")
            if isKilled {
                try gateway.system.process("rtm-edge").signal(SIGKILL)
            } else {
                try await client.logout()
            }
            let (after, _) = try await read(gateway, after: place) {
                types($0, of: "user:bob").contains("user.offline")
            }
            #expect(
                types(after, of: "user:bob") == [
                    isKilled ? "session.timeout" : "session.logout", "user.offline",
                ])
            await client.close()
        }
    }

    @Test("W-40, W-45: who comes while presence is away makes the events of a login and a join")
    func comesWithoutPresence() async throws {
        try await GatewaySystem.with(.fourProcesses, events: "1h") { gateway in
            let start = try await begin(gateway)
            try await gateway.system.process("rtm-presence").kill9()
            try await gateway.system.withClients("bob") { clients in
                let subscription = try await clients[0].subscribe(
                    to: "lobby", features: [.message, .presence])
                #expect(subscription.unavailableFeatures == .presence)
                try await gateway.system.launchPresence()
                let (events, _) = try await read(gateway, after: start) { events in
                    types(events, of: "user:bob").contains("session.login")
                        && types(events, of: "message:lobby").contains("channel.joined")
                }
                #expect(types(events, of: "user:bob") == ["session.login"])
                #expect(types(events, of: "message:lobby") == ["channel.occupied", "channel.joined"])
            }
        }
    }

    @Test(
        "W-42: a request waits for the next event, a stream gets each, and both say what is wrong with them")
    func waiting() async throws {
        try await GatewaySystem.with(.standalone, events: "1h") { gateway in
            let start = try await begin(gateway)
            async let waiting = gateway.call("GET", "/v1/dev/events?wait=20s&after=\(start)", key: "read")
            // An event of another type wakes nobody for good.
            async let selected = gateway.call(
                "GET", "/v1/dev/events?wait=20s&types=lock.changed&after=\(start)", key: "read")
            let url = try #require(
                URL(string: "http://\(gateway.system.address("gateway"))/v1/dev/events?after=\(start)"))
            var request = URLRequest(url: url)
            request.setValue("Bearer \(gateway.text(of: "read"))", forHTTPHeaderField: "Authorization")
            request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
            let stream = EventStreamReader()
            let session = URLSession(configuration: .default, delegate: stream, delegateQueue: nil)
            session.dataTask(with: request).resume()
            try await eventually("the stream has begun") { stream.text.present.hasPrefix(":") }
            for number in 1...3 {
                _ = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"channel": "a", "message": "\#(number)"}"#)
            }
            #expect(try await waiting.string("events", 0, "data", "message") == "1")
            _ = try await gateway.call("PUT", "/v1/dev/locks/l?channel=a", #"{"ttl": 10}"#)
            let lock = try await selected
            #expect(lock.count("events") == 1 && lock.string("events", 0, "type") == "lock.changed")
            try await eventually("the stream has all") { stream.text.present.contains("lock.changed") }
            let lines = stream.text.present.split(separator: "\n")
            #expect(lines.filter { $0 == "event: message.published" }.count == 3)
            func ids(_ text: String) -> [Substring] {
                text.split(separator: "\n\n").filter { $0.contains("\nevent: ") }
                    .compactMap { $0.split(separator: "\n").first }
            }
            let all = ids(stream.text.present)
            #expect(all.count == 4 && all.allSatisfy { $0.hasPrefix("id: ") })
            session.invalidateAndCancel()
            // Whoever is cut off before the first event comes back to the place of the comment.
            let place = try #require(lines.first { $0.hasPrefix("id: ") }).dropFirst("id: ".count)
            let missed = try await gateway.call("GET", "/v1/dev/events?after=\(place)", key: "read")
            #expect(lines.first == ":" && missed.count("events") == 4)

            // A browser asks the same address again, and names the last event that it got.
            let first = try #require(all.first).dropFirst("id: ".count)
            request.url = URL(
                string: "http://\(gateway.system.address("gateway"))/v1/dev/events?after=latest")
            request.setValue(String(first), forHTTPHeaderField: "Last-Event-ID")
            let again = EventStreamReader()
            let second = URLSession(configuration: .default, delegate: again, delegateQueue: nil)
            second.dataTask(with: request).resume()
            try await eventually("the stream continues") { again.text.present.contains("lock.changed") }
            #expect(ids(again.text.present) == Array(all.dropFirst()))
            second.invalidateAndCancel()

            for (query, error) in [
                ("after=x", "invalidQuery"), ("types=x", "invalidQuery"), ("wait=31s", "invalidQuery"),
                ("limit=0", "invalidQuery"), ("limit=1001", "invalidQuery"),
            ] {
                let answer = try await gateway.call("GET", "/v1/dev/events?\(query)", key: "read")
                #expect(answer.status == 400 && answer.error == error, "\(query)")
            }
            let scope = try await gateway.call("GET", "/v1/dev/events", key: "publish")
            #expect(scope.status == 403 && scope.error == "missingScope")
            let reach = try await gateway.call("GET", "/v1/dev/events?channels=lobby", key: "chat")
            #expect(reach.status == 403 && reach.error == "channelOutOfReach")
            let chat = try await gateway.call("GET", "/v1/dev/events", key: "chat")
            #expect(chat.status == 200 && chat.count("events") == 0)
            let none = try await gateway.call("GET", "/v1/other/events", key: "other")
            #expect(none.status == 400 && none.error == "invalidParameter")
        }
    }

    @Test(
        "W-40: messaging and storage are killed again and again with a journal in Redis: no event is missing")
    func killed() async throws {
        let redis = try RedisServerProcess()
        defer { redis.end() }
        let options = ["--redis-endpoints", "unix:\(redis.socket)"]
        try await GatewaySystem.with(.fourProcesses, messaging: options, events: "1h") { gateway in
            let start = try await begin(gateway)
            let published = Shared<[String: [String]]>([:])
            let isOver = Shared(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for channel in ["a", "b", "c"] {
                    group.addTask {
                        var number = 0
                        while !isOver.present {
                            number += 1
                            // The same key until it is acknowledged: so it is published once.
                            let text = "\(number)"
                            try await eventually("\(channel) \(text)", within: .seconds(60)) {
                                try await gateway.call(
                                    "POST", "/v1/dev/publish",
                                    #"{"channel": "\#(channel)", "message": "\#(text)"}"#,
                                    headers: ["Idempotency-Key": "\(channel)-\(text)"]
                                ).status == 200
                            }
                            published.withLock { $0[channel, default: []].append(text) }
                        }
                    }
                }
                func count() -> Int { published.present.values.map(\.count).reduce(0, +) }
                for service in ["storage", "messaging", "storage", "messaging", "storage"] {
                    let before = count()
                    try await eventually("messages flow", within: .seconds(60)) { count() > before + 60 }
                    try await gateway.system.restart(service)
                }
                let before = count()
                try await eventually("messages flow", within: .seconds(60)) { count() > before + 60 }
                isOver.withLock { $0 = true }
                try await group.waitForAll()
            }
            let expected = published.present
            // Messages flow while the gateway hasn't found the last storage yet.
            try await eventually("events can be read again", within: .seconds(60)) {
                try await gateway.call("GET", "/v1/dev/events?limit=1", key: "read").status == 200
            }
            func texts(_ events: [[String: Any]], _ channel: String) -> [String] {
                events.filter { $0["key"] as? String == "message:\(channel)" }
                    .compactMap { ($0["data"] as? [String: Any])?["message"] as? String }
            }
            let (events, _) = try await read(gateway, after: start) { events in
                expected.allSatisfy { texts(events, $0.key).last == $0.value.last }
            }
            #expect(types(events, of: "app") == [], "no gap")
            for (channel, messages) in expected {
                #expect(texts(events, channel) == messages, "\(channel)")
                let own = events.filter { $0["key"] as? String == "message:\(channel)" }
                #expect(own.compactMap { $0["number"] as? Int } == Array(1...messages.count), "\(channel)")
            }
        }
    }
}

/// Gathers the body of a response as it comes.
private final class EventStreamReader: NSObject, URLSessionDataDelegate, Sendable {
    let text = Shared("")

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        text.withLock { $0 += String(decoding: data, as: UTF8.self) }
    }
}
