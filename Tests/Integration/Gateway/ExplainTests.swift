import Foundation
import RTMAccessToken
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// Why did that message not arrive? Each outcome is made to happen, and then asked for over HTTP.
@Suite(.serialized, .ends(withinMinutes: 3)) struct ExplainTests {
    private struct Asked {
        let gateway: GatewaySystem

        func ask(_ question: String, app: String = "dev", key: String = "moderate") async throws
            -> GatewaySystem.Answer
        {
            try await gateway.call("POST", "/v1/\(app)/explain", key: key, question)
        }

        func message(
            _ published: GatewaySystem.Answer, for user: String?, in channel: String? = "lobby",
            app: String = "dev",
            key: String = "moderate"
        ) async throws -> GatewaySystem.Answer {
            let offset = try #require(published.int("offset"), "\(published.text)")
            let fields = [
                channel.map { #""channel": "\#($0)""# }, user.map { #""user": "\#($0)""# },
                #""offset": \#(offset)"#, #""epoch": \#(published.int("epoch") ?? 0)"#,
            ]
            let text = fields.compactMap(\.self).joined(separator: ", ")
            return try await ask(#"{"message": {\#(text)}}"#, app: app, key: key)
        }

        func dryRun(_ channel: String = "lobby", to: String, as publisher: String?, app: String = "dev")
            async throws -> GatewaySystem.Answer
        {
            let by = publisher.map { #", "as": "\#($0)""# } ?? ""
            return try await ask(
                #"{"publish": {"channel": "\#(channel)", "to": "\#(to)"\#(by)}}"#, app: app,
                key: app == "dev" ? "moderate" : "all")
        }

        func publish(
            _ channel: String = "lobby", app: String = "dev", _ text: String = "x"
        ) async throws -> GatewaySystem.Answer {
            try await gateway.call(
                "POST", "/v1/\(app)/publish", key: app == "dev" ? "publish" : "all",
                #"{"channel": "\#(channel)", "message": "\#(text)"}"#)
        }

        /// Publishes until the answer about a new message is as it has to be: facts that are younger than a
        /// second aren't put in an order with it.
        func publishes(
            _ channel: String = "lobby", for user: String, until summary: String, app: String = "dev"
        ) async throws -> GatewaySystem.Answer {
            var answer: GatewaySystem.Answer?
            try await eventually("\(user): \(summary)") {
                let published = try await publish(channel, app: app)
                answer = try await message(
                    published, for: user, in: channel, app: app, key: app == "dev" ? "moderate" : "all")
                return answer?.summary == summary
            }
            return try #require(answer)
        }
    }

    private func with(
        _ deployment: Deployment = .standalone, edge: [String] = [], _ body: (Asked) async throws -> Void
    ) async throws {
        try await GatewaySystem.with(deployment, edge: edge) { try await body(Asked(gateway: $0)) }
    }

    // MARK: Subscribers

    @Test(
        "W-60: written, subscribed later, unsubscribed, never accepted, published by the session itself",
        arguments: Deployment.allCases)
    func subscribers(deployment: Deployment) async throws {
        try await with(deployment) { asked in
            let system = asked.gateway.system
            if deployment == .fourProcesses { try await system.launchEdge() }
            let (anna, ben) = (try system.client("anna"), try system.client("ben"))
            for client in [anna, ben] { try await client.login() }
            // Behind a second nobody asks whether an earlier session has got it.
            for user in ["anna", "ben"] {
                _ = try await asked.publishes(for: user, until: "notDelivered session notSubscribed")
            }
            let before = try await asked.publish()
            try await anna.subscribe(to: "lobby")
            let published = try await asked.publish()
            let written = try await asked.message(published, for: "anna")
            #expect(written.summary == "delivered session written", "\(written.text)")
            #expect(written.int("edges", "asked") == written.int("edges", "answered"))
            #expect(written.string("tree", "hop") == "log" && written.string("tree", "verdict") == "accepted")
            #expect(written.int("tree", "at") == published.int("timestamp"))
            let edge = written.string("tree", "hops", 0, "node") ?? ""
            #expect(edge.hasPrefix("edge") && written.int("tree", "hops", 0, "loop") != nil)
            let session = try await asked.gateway.call("GET", "/v1/dev/users/anna")
                .string("connections", 0, "session")
            #expect(written.string("tree", "hops", 0, "hops", 0, "session") == session)

            let later = try await asked.message(before, for: "anna")
            #expect(later.summary == "notDelivered session subscribedLater", "\(later.text)")
            let never = try await asked.message(published, for: "ben")
            #expect(never.summary == "notDelivered session notSubscribed", "\(never.text)")
            let nobody = try await asked.message(published, for: nil)
            #expect(nobody.verdict == "unknown" && nobody.string("hop") == "edge", "\(nobody.text)")

            let head = try #require(published.int("offset"))
            let ahead = try await asked.ask(
                #"{"message": {"channel": "lobby", "offset": \#(head + 1_000), "user": "anna"}}"#)
            #expect(ahead.summary == "notDelivered log neverAccepted", "\(ahead.text)")
            let otherLog = try await asked.ask(
                #"{"message": {"channel": "lobby", "offset": \#(head), "epoch": 1, "user": "anna"}}"#)
            #expect(otherLog.summary == "unknown log noLongerKnown", "\(otherLog.text)")

            try await ben.subscribe(to: "lobby")
            _ = try await ben.publish("mine", to: .channel("lobby"))
            let newest = try await asked.gateway.call("GET", "/v1/dev/channels/lobby")
            let own = try await asked.message(newest, for: "ben")
            #expect(own.summary == "notDelivered session ownMessage", "\(own.text)")
            #expect(try await asked.message(newest, for: "anna").verdict == "delivered")

            try await anna.unsubscribe(from: "lobby")
            let after = try await asked.publish()
            let left = try await asked.message(after, for: "anna")
            #expect(left.summary == "notDelivered session notSubscribed" && left.at != nil, "\(left.text)")
            #expect(try await asked.message(published, for: "anna").summary == "delivered session written")
            for client in [anna, ben] { await client.close() }
        }
    }

    @Test("W-60: a message to the inbox, and one that came while the client was away for a moment")
    func returns() async throws {
        try await with { asked in
            let system = asked.gateway.system
            let proxy = try await FaultProxy.start(to: system.address("edge"))
            let server = try ServerAddress(proxy.address)
            let anna = try system.client("anna") { $0.servers = [server] }
            var states = anna.events().makeAsyncIterator()
            try await anna.login()
            try await anna.subscribe(to: "lobby")
            let inbox = try await asked.gateway.call(
                "POST", "/v1/dev/publish", key: "publish", #"{"user": "anna", "message": "hello"}"#)
            let toInbox = try await asked.message(inbox, for: "anna", in: nil)
            #expect(toInbox.summary == "delivered session written", "\(toInbox.text)")

            #expect(await states.nextLinkState(.connected) != nil)
            proxy.refuse(true)
            proxy.spoil(.reset)
            try await eventually("anna is away") {
                try await asked.gateway.call("GET", "/v1/dev/users").int("total") == 0
            }
            let missed = try await asked.publish()
            let away = try await asked.message(missed, for: "anna")
            #expect(away.verdict != "delivered", "\(away.text)")
            proxy.refuse(false)
            #expect(await states.nextLinkState(.connected) != nil)
            try await eventually("she has got it") {
                try await asked.message(missed, for: "anna").summary == "delivered session written"
            }
            await anna.close()
            try await proxy.stop()
        }
    }

    // MARK: Absent users

    @Test("W-60, W-61: offline since, with the cause; kicked, banned, and why a login was refused")
    func absent() async throws {
        try await with { asked in
            let system = asked.gateway.system
            let anna = try system.client("anna")
            try await anna.login()
            try await anna.subscribe(to: "lobby")
            let online = try await asked.ask(#"{"user": "anna"}"#)
            #expect(online.summary == "wouldBeDelivered user online", "\(online.text)")
            await anna.close()
            let gone = try await asked.publishes(for: "anna", until: "notDelivered user offline")
            #expect(gone.at != nil && gone.string("reason")?.contains("logged out") == true, "\(gone.text)")
            let offline = try await asked.ask(#"{"user": "anna"}"#)
            #expect(offline.summary == "wouldNotBeDelivered user offline", "\(offline.text)")

            let ben = try system.client("ben")
            try await ben.login()
            _ = try await asked.gateway.call(
                "POST", "/v1/dev/users/ben/ban", key: "moderate", #"{"seconds": 600, "reason": "too loud"}"#)
            try await eventually("ben is out") {
                try await asked.ask(#"{"user": "ben"}"#).summary == "wouldNotBeDelivered user banned"
            }
            #expect(await code { try await ben.login() } == .loginRejected)
            let banned = try await asked.ask(#"{"user": "ben"}"#)
            #expect(banned.verdicts.contains("loginRefused") && banned.text.contains("too loud"))
            #expect(banned.text.contains("an operator ended it"), "\(banned.text)")
            let toBanned = try await asked.dryRun(to: "ben", as: nil)
            #expect(toBanned.summary == "wouldNotBeDelivered user banned", "\(toBanned.text)")
            let byBanned = try await asked.dryRun(to: "anna", as: "ben")
            #expect(byBanned.summary == "wouldNotBeDelivered publisher banned", "\(byBanned.text)")

            let nobody = try await asked.ask(#"{"user": "nobody"}"#)
            #expect(nobody.summary == "wouldNotBeDelivered user offline", "\(nobody.text)")
            await ben.close()
        }
    }

    @Test("W-60: a client that doesn't read: bytes wait for it, and then it is cut off")
    func slow() async throws {
        try await with { asked in
            let user = try await RawUser.enter(
                "deaf", ["lobby"], at: asked.gateway.system.address("edge"), presenceTimeout: 10)
            try await user.connection.stopReading()
            let text = String(repeating: "x", count: 20_000)
            var seen: Set<String> = []
            try await eventually("it is cut off", within: .seconds(60)) {
                for _ in 0..<10 { _ = try await asked.publish("lobby", text) }
                let published = try await asked.publish("lobby", text)
                seen.insert(try await asked.message(published, for: "deaf").summary)
                seen.insert(try await asked.dryRun(to: "deaf", as: nil).summary)
                return seen.contains("wouldNotBeDelivered user tooSlow")
            }
            #expect(seen.contains("unknown session waiting"), "\(seen)")
            #expect(seen.contains("wouldBeDelivered session waiting"), "\(seen)")
            let last = try await asked.publishes(for: "deaf", until: "notDelivered user tooSlow")
            #expect(last.string("reason")?.contains("cut off") == true)
            try? await user.connection.close()
        }
    }

    @Test("W-60: a token that has expired, and a permission that is missing")
    func tokens() async throws {
        try await with { asked in
            let (app, now) = (SampleApp.id, UInt64(Date().timeIntervalSince1970))
            let permissions = TokenPermissions.channels(read: ["lobby"], write: [])
            let anna = try asked.gateway.system.client("anna") { $0.appID = app }
            try await anna.login(
                token: SampleApp.token(for: "anna", endsAt: now + 500, permissions: permissions))
            try await anna.subscribe(to: "lobby")
            #expect(await code { try await anna.subscribe(to: "vip") } == .channelSubscribePermissionDenied)
            let denied = try await asked.publishes(
                "vip", for: "anna", until: "notDelivered session subscribeRefused", app: app)
            #expect(denied.string("reason")?.contains("doesn't allow to subscribe") == true)
            let byAnna = try await asked.dryRun(to: "anna", as: "anna", app: app)
            #expect(byAnna.summary == "wouldNotBeDelivered publisher permissionDenied", "\(byAnna.text)")
            let byBackend = try await asked.dryRun(to: "anna", as: nil, app: app)
            #expect(byBackend.summary == "wouldBeDelivered session subscribed", "\(byBackend.text)")
            let byNobody = try await asked.dryRun(to: "anna", as: "nobody", app: app)
            #expect(byNobody.summary == "unknown publisher permissionNotKnown", "\(byNobody.text)")

            let ben = try asked.gateway.system.client("ben") { $0.appID = app }
            let soon = UInt64(Date().timeIntervalSince1970) + 2
            try await ben.login(token: SampleApp.token(for: "ben", endsAt: soon))
            let expired = try await asked.publishes(
                for: "ben", until: "notDelivered user tokenExpired", app: app)
            #expect(expired.string("reason")?.contains("token expired") == true)
            for client in [anna, ben] { await client.close() }
        }
    }

    // MARK: Dry runs

    @Test("W-62: a dry run publishes nothing and spends nothing, and tells of a rate that is reached")
    func dryRuns() async throws {
        try await with(edge: ["--edge-rates-publish", "5"]) { asked in
            try await asked.gateway.system.withClients("anna", "ben") { clients in
                let before = try await asked.gateway.call("GET", "/v1/dev/channels/lobby").int("offset")
                let none = try await asked.dryRun(to: "ben", as: "anna")
                #expect(none.summary == "wouldNotBeDelivered session notSubscribed", "\(none.text)")
                try await clients[1].subscribe(to: "lobby", features: .message)
                for _ in 0..<20 {
                    let answer = try await asked.dryRun(to: "ben", as: "anna")
                    #expect(answer.summary == "wouldBeDelivered session subscribed", "\(answer.text)")
                }
                #expect(
                    try await asked.dryRun(to: "ben", as: "ben").summary
                        == "wouldNotBeDelivered session ownMessage")
                let after = try await asked.gateway.call("GET", "/v1/dev/channels/lobby").int("offset")
                #expect(before == after, "nothing was published")
                var limited: GatewaySystem.Answer?
                try await eventually("the rate is reached") {
                    for _ in 0..<6 { _ = try? await clients[0].publish("x", to: .channel("lobby")) }
                    limited = try await asked.dryRun(to: "ben", as: "anna")
                    return limited?.summary == "wouldNotBeDelivered publisher rateReached"
                }
                #expect(limited?.string("reason")?.contains("5 messages a second") == true)
                let anna = try await asked.ask(#"{"user": "anna"}"#)
                #expect(anna.verdicts.contains("publishRefused"), "\(anna.text)")
                try await clients[1].subscribe(to: "quiet", features: .presence)
                #expect(
                    try await asked.dryRun("quiet", to: "ben", as: "anna").summary
                        == "wouldNotBeDelivered session notWanted")
            }
        }
    }

    // MARK: Services that are away

    @Test("W-60: what can't be asked isn't known, and the answer says so")
    func away() async throws {
        try await with(.fourProcesses) { asked in
            let system = asked.gateway.system
            let anna = try system.client("anna")
            try await anna.login()
            try await anna.subscribe(to: "lobby")
            let published = try await asked.publish()
            #expect(try await asked.message(published, for: "anna").verdict == "delivered")
            let storage = try system.process("rtm-storage")
            try await storage.kill9()
            let noEdges = try await asked.message(published, for: "anna")
            #expect(noEdges.status == 200 && noEdges.summary == "unknown edge unreachable", "\(noEdges.text)")
            #expect(noEdges.value("edges") == nil && noEdges.string("tree", "verdict") == "accepted")
            try await system.launchStorage()
            try await eventually("the edges answer again") {
                try await asked.message(published, for: "anna").verdict == "delivered"
            }
            try await system.process("rtm-messaging").kill9()
            try await eventually("messaging is gone") {
                try await asked.message(published, for: "anna").summary == "unknown log unreachable"
            }
            let dry = try await asked.dryRun(to: "anna", as: nil)
            #expect(dry.summary == "wouldNotBeDelivered log unreachable", "\(dry.text)")
            // Without a journal the log begins anew, which is a gap for those who are subscribed.
            try await system.launch("rtm-messaging", ["--listen", system.address("messaging")])
            try await asked.gateway.isReady()
            let forgotten = try await asked.message(published, for: "anna")
            #expect(forgotten.summary == "unknown log noLongerKnown", "\(forgotten.text)")
            let next = try await asked.publishes(for: "anna", until: "delivered session written")
            #expect(next.status == 200)
            await anna.close()
        }
    }

    // MARK: The command

    @Test("W-60 to W-62: rtm explain shows the tree, and as JSON the answer")
    func command() async throws {
        try await with { asked in
            let gateway = asked.gateway
            try await gateway.system.withClients("anna", "ben") { clients in
                try await clients[0].subscribe(to: "lobby")
                let published = try await asked.publish()
                let (offset, epoch) = (published.int("offset") ?? 0, published.int("epoch") ?? 0)
                let written = try await gateway.run(
                    "explain", "message", "lobby", "\(offset)", "--user", "anna", "--epoch", "\(epoch)",
                    key: "moderate")
                #expect(written.status == 0 && written.output.count == 4, "\(written)")
                #expect(written.output.first?.hasPrefix("delivered: The message was written") == true)
                #expect(written.output.last?.hasPrefix("    session written\t") == true)
                let user = try await gateway.run("explain", "user", "ben", "--json")
                #expect(user.output.count == 1 && user.output[0].hasPrefix(#"{"event":"explanation","#))
                #expect(user.output[0].contains(#""verdict":"wouldBeDelivered""#), "\(user)")
                let dry = try await gateway.run(
                    "explain", "publish", "lobby", "--to", "anna", "--as", "ben")
                #expect(dry.output.first?.hasPrefix("wouldBeDelivered: ") == true, "\(dry)")
                #expect(dry.output.map { $0.prefix { $0 == " " }.count } == [0, 0, 2, 4, 6])
                let refused = try await gateway.run("explain", "user", "ben", key: "read")
                #expect(refused.status == 1 && refused.errors.first?.contains("missingScope") == true)
                #expect(try await gateway.run("explain", "publish", "lobby").status == 64)
            }
        }
    }

    // MARK: Requests

    @Test("W-63: only a key that moderates the whole app may ask, and a question is one of three")
    func requests() async throws {
        try await with { asked in
            for (key, name) in [
                ("read", "missingScope"), ("chat", "channelOutOfReach"), ("other", "anotherApp"),
            ] {
                let answer = try await asked.ask(#"{"user": "anna"}"#, key: key)
                #expect(answer.status == 403 && answer.error == name, "\(answer.text)")
            }
            let token = try SampleApp.token(for: "anna", endsAt: UInt64(Date().timeIntervalSince1970) + 500)
            let user = try await asked.gateway.call(
                "POST", "/v1/\(SampleApp.id)/explain", key: nil, #"{"user": "anna"}"#,
                headers: ["Authorization": "agora token=\(token)", "x-agora-uid": "anna"])
            #expect(user.status == 403, "\(user.text)")
            for wrong in [
                "{}", #"{"user": "anna", "publish": {"to": "a"}}"#,
                #"{"message": {"channel": "a", "offset": 0}}"#,
                #"{"message": {"offset": 1}}"#, #"{"message": {"channel": "a", "offset": 1, "of": 2}}"#,
                #"{"publish": {"channel": "a"}}"#, #"{"message": {"channel": "a", "offset": -1}}"#,
            ] {
                let answer = try await asked.ask(wrong)
                #expect(answer.status == 400 && answer.error == "invalidBody", "\(wrong): \(answer.text)")
            }
            let name = String(repeating: "n", count: 65)
            #expect(try await asked.ask(#"{"user": "\#(name)"}"#).status == 400)
            #expect(try await asked.ask(#"{"publish": {"channel": "\#(name)", "to": "a"}}"#).status == 400)
            let audits = try await asked.gateway.auditLines()
            #expect(audits.isEmpty, "a question changes nothing, so it is no line of the audit")
        }
    }
}

extension GatewaySystem.Answer {
    fileprivate var verdict: String { string("verdict") ?? "" }

    /// The verdict, where it ended, and the verdict of that hop.
    fileprivate var summary: String {
        "\(verdict) \(string("hop") ?? "") \(last?["verdict"] as? String ?? "")"
    }

    /// The time of the hop that decided.
    fileprivate var at: Int? { last?["at"] as? Int }

    /// The verdicts of all hops.
    fileprivate var verdicts: [String] { hops.compactMap { $0["verdict"] as? String } }

    private var last: [String: Any]? { hops.first { $0["reason"] as? String == string("reason") } }

    private var hops: [[String: Any]] {
        func all(_ hop: [String: Any]) -> [[String: Any]] {
            [hop] + ((hop["hops"] as? [[String: Any]]) ?? []).flatMap(all)
        }
        return (value("tree") as? [String: Any]).map(all) ?? []
    }
}
