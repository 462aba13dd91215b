import Foundation
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import RTMTokenTestSupport
import Testing

/// Presence, metadata, locks and moderation over HTTP.
@Suite(.serialized, .ends(withinMinutes: 2)) struct GatewayStateTests {
    @Test("W-21: presence says who is where, how many, and with which state", arguments: Deployment.allCases)
    func presence(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            try await gateway.system.withClients("alice", "bob b") { clients in
                for client in clients { try await client.subscribe(to: "lobby") }
                try await clients[1].setState(["mood": "fine"], in: "lobby")
                try await eventually("both are there") {
                    let answer = try await gateway.call("GET", "/v1/dev/presence?channel=lobby&count=true")
                    return answer.int("total") == 2 && answer.value("users") == nil
                }
                let list = try await gateway.call("GET", "/v1/dev/presence?channel=lobby&state=true")
                let users = (list.value("users") as? [[String: Any]]) ?? []
                #expect(Set(users.compactMap { $0["user"] as? String }) == ["alice", "bob b"])
                try await eventually("the state is known") {
                    let state = try await gateway.call("GET", "/v1/dev/users/bob%20b/state?channel=lobby")
                    return state.string("state", "mood") == "fine"
                }
                let channels = try await gateway.call("GET", "/v1/dev/users/bob%20b/channels")
                #expect(channels.string("channels", 0, "channel") == "lobby")
                #expect(channels.string("channels", 0, "type") == "message")
            }
        }
    }

    @Test("W-21, W-25, D-5, D-9: a write compares what was read, and a conflict says what is there")
    func metadata() async throws {
        try await GatewaySystem.with { gateway in
            let path = "/v1/dev/metadata?channel=room"
            func put(_ value: String, _ revision: Int?, item: Int? = nil) async throws -> GatewaySystem.Answer
            {
                let itemPart = item.map { #", "revision": \#($0)"# } ?? ""
                let part = revision.map { #", "revision": \#($0)"# } ?? ""
                let body = #"{"items": [{"key": "topic", "value": "\#(value)"\#(itemPart)}], "author": "ann""#
                return try await gateway.call("PUT", path, body + "\(part)}")
            }
            let empty = try await gateway.call("GET", path)
            #expect(empty.int("revision") == 0 && empty.count("items") == 0)
            let first = try #require(try await put("a", 0).int("revision"))
            let late = try await put("b", 0)
            #expect(late.status == 409 && late.error == "storageOutdatedRevision")
            #expect(late.int("error", "conflict", "revision") == first)
            let second = try #require(try await put("b", first).int("revision"))
            let item = try await put("c", nil, item: first)
            #expect(item.status == 409 && item.string("error", "conflict", "key") == "topic")
            #expect(item.int("error", "conflict", "itemRevision") == second)
            #expect(try await put("c", nil, item: second).status == 200)
            #expect(try await put("d", -1).error == "storageInvalidRevision")
            let read = try await gateway.call("GET", path)
            #expect(read.string("items", 0, "value") == "c" && read.string("items", 0, "author") == "ann")
            let patch = try await gateway.call(
                "PATCH", path, #"{"items": [{"key": "other", "value": "x"}]}"#)
            #expect(patch.status == 409)
            let valueless = try await gateway.call("PUT", path, #"{"items": [{"key": "topic"}]}"#)
            #expect(valueless.status == 400 && valueless.error == "storageInvalidValue")
            #expect(try await gateway.call("DELETE", path, #"{"items": [{"key": "topic"}]}"#).status == 200)

            let user = "/v1/dev/metadata?user=alice"
            #expect(
                try await gateway.call("PUT", user, #"{"items": [{"key": "k", "value": ""}]}"#).status == 200)
            #expect(try await gateway.call("GET", user).string("items", 0, "value") == "")
            #expect(try await gateway.call("GET", user + "&channel=a").error == "invalidTarget")
        }
    }

    @Test("W-21, K-2, K-3, K-9: locks are created, listed, revoked and removed")
    func locks() async throws {
        try await GatewaySystem.with { gateway in
            try await gateway.system.withClients("alice") { clients in
                func call(_ method: String, _ path: String, _ body: String? = nil) async throws
                    -> GatewaySystem.Answer
                {
                    try await gateway.call(method, "/v1/dev/locks\(path)?channel=room", body)
                }
                #expect(try await call("PUT", "/l%2F1", #"{"ttl": 20}"#).status == 200)
                #expect(try await call("PUT", "/l%2F1", "{}").error == "lockAlreadyExist")
                _ = try await clients[0].acquireLock("l/1", in: "room")
                let list = try await call("GET", "")
                #expect(
                    list.string("locks", 0, "name") == "l/1" && list.string("locks", 0, "owner") == "alice")
                #expect(list.int("locks", 0, "ttl") == 20 && list.int("locks", 0, "fencingToken") ?? 0 > 0)
                #expect(try await call("POST", "/l%2F1/revoke", #"{"owner": "bob"}"#).status == 409)
                #expect(try await call("POST", "/l%2F1/revoke", #"{"owner": "alice"}"#).status == 200)
                #expect(try await call("GET", "").value("locks", 0, "owner") == nil)
                #expect(try await call("DELETE", "/l%2F1").status == 200)
                #expect(try await call("DELETE", "/l%2F1").status == 404)
            }
        }
    }

    @Test(
        "W-10, W-21, W-23: a kick ends a real session and says so; a ban holds until it is lifted",
        arguments: Deployment.allCases)
    func moderation(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            try await gateway.system.withClients("ben o") { clients in
                let ben = clients[0]
                var states = ben.events().makeAsyncIterator()
                let kick = try await gateway.call(
                    "POST", "/v1/dev/users/ben%20o/kick", key: "moderate", #"{"reason": "too loud"}"#)
                #expect(kick.status == 200 && kick.int("sessions") == 1, "\(kick.text)")
                #expect(
                    kick.value("isDurable") as? Bool == false && kick.int("asked") == kick.int("answered"))
                #expect(await states.nextLinkState(.failed)?.reasonCode == .kickedOutByServer)
                try await ben.login()
                let nobody = try await gateway.call(
                    "POST", "/v1/dev/users/nobody/kick", key: "moderate", "{}")
                #expect(nobody.status == 200 && nobody.int("sessions") == 0)

                let ban = try await gateway.call(
                    "POST", "/v1/dev/users/ben%20o/ban", key: "moderate",
                    #"{"seconds": 3600, "reason": "spam"}"#)
                #expect(ban.int("sessions") == 1 && ban.value("isDurable") as? Bool == true)
                #expect(await states.nextLinkState(.failed)?.reasonCode == .kickedOutByServer)
                #expect(await code { try await ben.login() } == .loginRejected)
                let bans = try await gateway.call("GET", "/v1/dev/bans", key: "moderate")
                #expect(
                    bans.string("bans", 0, "user") == "ben o" && bans.string("bans", 0, "reason") == "spam")
                #expect(bans.string("bans", 0, "by")?.hasPrefix("key ") == true)

                if deployment == .fourProcesses {
                    try await gateway.system.process("rtm-storage").kill9()
                    try await gateway.system.launchStorage()
                    try await gateway.isReady()
                    let still = try await gateway.call("GET", "/v1/dev/bans", key: "moderate")
                    #expect(still.count("bans") == 1)
                }
                let unban = try await gateway.call(
                    "POST", "/v1/dev/users/ben%20o/unban", key: "moderate", "{}")
                #expect(unban.status == 200 && unban.int("untilBefore") == ban.int("until"))
                try await eventually("ben may log in") { await code { try await ben.login() } == nil }
                for seconds in ["0", "-1", "1e30", "\"1\""] {
                    let wrong = try await gateway.call(
                        "POST", "/v1/dev/users/x/ban", #"{"seconds": \#(seconds)}"#)
                    #expect(wrong.status == 400 && wrong.error == "invalidBody")
                }
            }
            let program = deployment == .standalone ? "rtm-standalone" : "rtm-storage"
            let process = try gateway.system.process(program, first: true)
            var line: Substring?
            try await eventually("the ban is in the log") {
                line = process.log.split(separator: "\n").first { $0.contains("too loud") }
                return line != nil
            }
            #expect(line?.contains(#""user":"ben o""#) == true && line?.contains(#""by":"key "#) == true)
        }
    }

    @Test(
        "W-29: revoked tokens let nobody in any more, sessions with them end, and newer ones are accepted",
        arguments: Deployment.allCases)
    func revocation(deployment: Deployment) async throws {
        try await GatewaySystem.with(deployment) { gateway in
            let (app, now) = (SampleApp.id, UInt64(Date().timeIntervalSince1970))
            func token(issuedAt: UInt64) throws -> String {
                // It lives for ten minutes.
                try SampleApp.token(for: "eve", endsAt: issuedAt + 600)
            }
            let old = try token(issuedAt: now - 100)
            func call(_ token: String) async throws -> GatewaySystem.Answer {
                try await gateway.call(
                    "GET", "/v1/\(app)/history?channel=a", key: nil,
                    headers: ["Authorization": "agora token=\(token)", "x-agora-uid": "eve"])
            }
            #expect(try await call(old).status == 200)
            let eve = try gateway.system.client("eve") { $0.appID = app }
            try await eve.login(token: old)
            var states = eve.events().makeAsyncIterator()
            let path = "/v1/\(app)/users/eve/revoke-tokens"
            // Tokens of before that are others.
            let none = try await gateway.call(
                "POST", path, key: "all", #"{"issuedBefore": \#((now - 200) * 1_000)}"#)
            #expect(none.int("sessions") == 0 && none.value("isDurable") as? Bool == true, "\(none.text)")
            let revoked = try await gateway.call(
                "POST", path, key: "all", #"{"issuedBefore": \#((now - 50) * 1_000), "reason": "stolen"}"#)
            #expect(revoked.status == 200 && revoked.int("sessions") == 1, "\(revoked.text)")
            #expect(revoked.int("issuedBefore") == Int(now - 50) * 1_000)
            #expect(await states.nextLinkState(.failed)?.reasonCode == .tokenExpired)
            #expect(await code { try await eve.login(token: old) } == .tokenExpired)
            #expect(try await call(old).status == 401)
            if deployment == .fourProcesses {
                try await gateway.system.process("rtm-storage").kill9()
                try await gateway.system.launchStorage()
                try await gateway.isReady()
            }
            #expect(await code { try await eve.login(token: old) } == .tokenExpired)
            let fresh = try token(issuedAt: now - 10)
            try await eve.login(token: fresh)
            #expect(try await call(fresh).status == 200)
            #expect(await code { try await eve.renewToken(old) } == .tokenExpired)
            #expect(try await gateway.call("GET", "/v1/\(app)/bans", key: "all").count("bans") == 0)
            for wrong in [#"{"issuedBefore": 0}"#, #"{"issuedBefore": 99999999999999}"#, #"{"seconds": 0}"#] {
                #expect(try await gateway.call("POST", path, key: "all", wrong).error == "invalidBody")
            }
            await eve.close()
        }
    }

    @Test("W-31: every change by a key leaves a line that says who, what, whom and with which outcome")
    func audit() async throws {
        try await GatewaySystem.with { gateway in
            _ = try await gateway.call("POST", "/v1/dev/users/fay%20f/kick", key: "moderate", "{}")
            _ = try await gateway.call("POST", "/v1/dev/users/fay%20f/kick", key: "read", "{}")
            _ = try await gateway.call(
                "PUT", "/v1/dev/metadata?channel=room",
                #"{"items": [{"key": "k", "value": "v"}], "revision": 7}"#)
            _ = try await gateway.call("PUT", "/v1/dev/locks/lead?channel=room", "{}")
            _ = try await gateway.call("DELETE", "/v1/dev/history?channel=room")
            _ = try await gateway.call("POST", "/v1/dev/publish", #"{"channel": "a", "message": "b"}"#)
            _ = try await gateway.call("GET", "/v1/dev/bans")
            let lines = try await gateway.auditLines()
            let parts: [[String]] = [
                [#""what":"POST users kick""#, #""whom":"user fay f""#, #""outcome":"200""#],
                [#""what":"POST users kick""#, #""outcome":"403 missingScope""#],
                [#""what":"PUT metadata""#, #""whom":"channel room""#, #""outcome":"409 "#],
                [#""what":"PUT locks""#, #""whom":"lock lead channel room""#, #""outcome":"200""#],
                [#""what":"DELETE history""#, #""whom":"channel room""#, #""outcome":"200""#],
            ]
            #expect(lines.count == parts.count, "\(lines)")
            for (line, parts) in zip(lines, parts) {
                #expect(line.contains(#""by":"key "#) && line.contains(#""app":"dev""#))
                for part in parts { #expect(line.contains(part), "\(part) in \(line)") }
            }
        }
    }

    @Test(
        "W-31: what an operator does at storage's socket is in the trail, and a backend's ban is there once")
    func operators() async throws {
        try await GatewaySystem.with { gateway in
            let process = ChildProcess()
            process.executableURL = ServiceProcess.executables.appending(path: "rtm-standalone")
            process.arguments = [
                "ban", "dev/ben/1h", "--by", "ann", "--data",
                gateway.system.directory.appending(path: "data").path,
            ]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            _ = try await gateway.call("POST", "/v1/dev/users/eve/ban", #"{"seconds": 60}"#)
            try await eventually("both are there") {
                let audit = try await gateway.call("GET", "/v1/dev/audit")
                let lines = audit.value("audit") as? [[String: Any]] ?? []
                let whom = lines.compactMap { $0["whom"] as? String }
                guard whom == ["user eve", "user ben"] else { return false }
                return lines[1]["by"] as? String == "operator ann" && lines[1]["what"] as? String == "ban"
                    && lines[1]["outcome"] as? String == "0 sessions ended"
            }
        }
    }

    @Test("W-31: the audit trail is kept over restarts, newest first, and admins read it in pages")
    func keptAudit() async throws {
        try await GatewaySystem.with(.fourProcesses) { gateway in
            _ = try await gateway.call("POST", "/v1/other/users/zoe/kick", key: "other", "{}")
            for (user, key) in [("fay", "moderate"), ("gus", "moderate"), ("hal", "read")] {
                _ = try await gateway.call("POST", "/v1/dev/users/\(user)/kick", key: key, "{}")
                try await eventually("it is kept") {
                    let audit = try await gateway.call("GET", "/v1/dev/audit")
                    return audit.string("audit", 0, "whom") == "user \(user)"
                }
            }
            try await gateway.system.process("rtm-storage").kill9()
            // While storage is away, the change fails by itself, and its line is in the log alone.
            let away = try await gateway.call("POST", "/v1/dev/users/ida/kick", key: "moderate", "{}")
            #expect(away.status == 503)
            try await gateway.system.launchStorage()
            try await eventually("storage is back") {
                try await gateway.call("GET", "/v1/dev/audit").status == 200
            }
            let all = try await gateway.call("GET", "/v1/dev/audit")
            let lines = all.value("audit") as? [[String: Any]] ?? []
            let whom = lines.compactMap { $0["whom"] as? String }
            #expect(whom == ["user hal", "user gus", "user fay"], "\(all.text)")
            #expect(lines.first?["outcome"] as? String == "403 missingScope")
            #expect(lines.last?["outcome"] as? String == "200")
            #expect(lines.allSatisfy { $0["what"] as? String == "POST users kick" })
            #expect(lines.allSatisfy { $0["address"] as? String == "127.0.0.1" })
            #expect(lines.allSatisfy { $0["time"] as? Int ?? 0 > 0 })
            #expect(lines.allSatisfy { ($0["by"] as? String)?.hasPrefix("key ") ?? false })
            let first = try await gateway.call("GET", "/v1/dev/audit?limit=2")
            let next = try #require(first.int("nextAfter"))
            let rest = try await gateway.call("GET", "/v1/dev/audit?after=\(next)")
            #expect(first.count("audit") == 2 && rest.count("audit") == 1 && rest.value("nextAfter") == nil)
            for (key, error) in [
                ("all", "missingScope"), ("chat", "channelOutOfReach"), ("other", "anotherApp"),
            ] {
                #expect(try await gateway.call("GET", "/v1/dev/audit", key: key).error == error)
            }
            #expect(try await gateway.call("GET", "/v1/dev/audit?x=1").error == "invalidQuery")
            let command = try await gateway.run("audit", "--limit", "2")
            #expect(command.status == 0 && command.output.count == 2, "\(command)")
            #expect(command.output[0].contains("\tPOST users kick\tuser hal\t403 missingScope"), "\(command)")
            let metrics = try await gateway.system.get(
                "http://\(gateway.system.address("rtm-gateway admin"))/metrics"
            ).body
            #expect(metrics.contains(#"rtm_gateway_audit_lines_total{kind="kept"} 4"#), "\(metrics)")
            #expect(metrics.contains(#"rtm_gateway_audit_lines_total{kind="lost"} 1"#))
        }
    }
}
