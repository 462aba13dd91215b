import Foundation
import NIOSSL
import RTMClient
import RTMClientTestSupport
import RTMTestSupport
import Testing

/// What the gateway does with connections and bytes, tried from outside.
@Suite(.serialized, .ends(withinMinutes: 3)) struct GatewayConnectionTests {
    private func head(_ gateway: GatewaySystem, _ line: String, _ headers: String...) -> String {
        ([line, "Host: localhost", "Authorization: Bearer \(gateway.text(of: "admin"))"] + headers)
            .joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func publish(_ gateway: GatewaySystem, _ text: String, _ headers: String...) -> String {
        let body = #"{"channel": "a", "message": "\#(text)"}"#
        let all = ["Content-Length: \(body.utf8.count)"] + headers
        return
            ([
                "POST /v1/dev/publish HTTP/1.1", "Host: localhost",
                "Authorization: Bearer \(gateway.text(of: "admin"))",
            ] + all).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    @Test("requests that come without waiting for answers are answered in their order")
    func pipelining() async throws {
        try await GatewaySystem.with { gateway in
            let http = try await RawHTTP.open(gateway.system.address("gateway"))
            let requests = (0..<20).map { publish(gateway, "\($0)") }.joined()
            try await http.send(requests + head(gateway, "GET /v1/dev/presence?channel=a HTTP/1.1"))
            let answers = await http.answers(21)
            #expect(answers.count == 21 && answers.allSatisfy { $0.hasPrefix("200") })
            let offsets = answers.dropLast().compactMap { answer in
                answer.firstMatch(of: #/"offset":(\d+)/#).flatMap { Int($0.1) }
            }
            #expect(offsets.count == 20 && offsets == offsets.sorted())
            #expect(answers.last?.contains(#""total":0"#) == true)
            try await http.close()
        }
    }

    @Test("who waits with the body is told to send it, behind the answers that come first")
    func expectation() async throws {
        try await GatewaySystem.with { gateway in
            let http = try await RawHTTP.open(gateway.system.address("gateway"))
            let request = publish(gateway, "waited for", "Expect: 100-Continue")
            let end = try #require(request.range(of: "\r\n\r\n")).upperBound
            try await http.send(String(request[..<end]))
            let continued = "HTTP/1.1 100 Continue\r\n\r\n"
            #expect(await http.text(endingWith: "\r\n\r\n") == continued)
            try await http.send(String(request[end...]))
            #expect(await http.answers(1).first?.hasPrefix("200") == true)

            try await http.send(publish(gateway, "before") + String(request[..<end]))
            let both = await http.text(endingWith: continued)
            #expect(both.hasPrefix("HTTP/1.1 200 OK") && both.components(separatedBy: continued).count == 2)
            // Who doesn't wait isn't asked any more.
            try await http.send(String(request[end...]))
            #expect(await http.answers(1).first?.hasPrefix("200") == true)
            try await http.send(request)
            #expect(await http.answers(1).first?.hasPrefix("200") == true)
            try await http.close()
        }
    }

    @Test("a connection of HTTP/1.0, and one whose client says so in any spelling, ends with its answer")
    func lastRequest() async throws {
        try await GatewaySystem.with { gateway in
            for request in [
                head(gateway, "GET /v1/dev/presence?channel=a HTTP/1.0"),
                head(gateway, "GET /v1/dev/presence?channel=a HTTP/1.0", "Expect: 100-continue"),
                head(gateway, "GET /v1/dev/presence?channel=a HTTP/1.0", "Connection: keep-alive"),
                head(gateway, "GET /v1/dev/presence?channel=a HTTP/1.1", "Connection: Close, TE"),
            ] {
                let http = try await RawHTTP.open(gateway.system.address("gateway"))
                let start = ContinuousClock.now
                try await http.send(request)
                let answer = await http.rest().lowercased()
                #expect(.now - start < .seconds(30) * timeScale)
                #expect(
                    answer.contains("200 ok") && answer.contains("\r\nconnection: close\r\n"), "\(answer)")
                #expect(!answer.contains("100 continue") && !answer.contains("chunked"))
            }
        }
    }

    @Test("silence, half a head, half a body and a body that comes byte by byte are cut off in time")
    func slow() async throws {
        try await GatewaySystem.with(.standalone, ["--idle-timeout", "2s"]) { gateway in
            let address = gateway.system.address("gateway")
            for beginning in [
                "", "POST /v1/dev/pub", head(gateway, "POST /v1/dev/publish HTTP/1.1", "Content-Length: 100"),
                head(gateway, "POST /v1/dev/publish HTTP/1.1", "Content-Length: 100") + "{",
                publish(gateway, "whole"),
            ] {
                let start = ContinuousClock.now
                let http = try await RawHTTP.open(address)
                if !beginning.isEmpty { try await http.send(beginning) }
                _ = await http.rest()
                #expect(.now - start > .milliseconds(1_900) && .now - start < .seconds(10) * timeScale)
            }
            for beginning in ["", head(gateway, "POST /v1/dev/publish HTTP/1.1", "Content-Length: 100000")] {
                let http = try await RawHTTP.open(address)
                try await http.send(beginning + "G")
                let start = ContinuousClock.now
                let trickle = Task {
                    while !Task.isCancelled {
                        try await http.send("x")
                        await letPass(.milliseconds(100))
                    }
                }
                _ = await http.rest()
                trickle.cancel()
                #expect(.now - start < .seconds(10) * timeScale, "a byte now and then keeps no connection")
            }
            try await eventually("requests one after the other keep the connection", within: .seconds(60)) {
                try await isKept(gateway)
            }
        }
    }

    /// Whether six requests, half a second apart, have one connection. It is closed between two only if this
    /// machine took longer.
    private func isKept(_ gateway: GatewaySystem) async throws -> Bool {
        let http = try await RawHTTP.open(gateway.system.address("gateway"))
        var last = ContinuousClock.now
        for number in 0..<6 {
            let isSent = (try? await http.send(publish(gateway, "\(number)"))) != nil
            let answer = isSent ? await http.answers(1).first : nil
            guard answer?.hasPrefix("200") == true else {
                #expect(.now - last > .seconds(1), "\(answer ?? "closed")")
                return false
            }
            last = .now
            await letPass(.milliseconds(500))
        }
        try await http.close()
        return true
    }

    @Test(
        "a request that two programs could read in two ways is refused, and nothing behind it is executed",
        arguments: [
            "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: 5", "Content-Length: +5", "Content-Length: -5",
            "Content-Length: 0x5", "Content-Length: 5, 5", "Content-Length: 5 5",
            "Content-Length: 99999999999999999999", "Transfer-Encoding: xchunked",
            "Transfer-Encoding: chunked, identity", "Transfer-Encoding : chunked", "Content-Length : 5",
            "X: a\r\n b\r\nTransfer-Encoding: xchunked", "X\u{0}: a", "X: a\u{0}b", "X Y: a", ": a",
            "Content-Length: 5\nTransfer-Encoding: xchunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
            "Transfer-Encoding:\u{b}chunked", "Transfer-Encoding: \"chunked\"", "Content-Length: 5\rX: a",
            "Content-Length: 5\u{a0}", "Content-Length: ", "Content-Length: 5.0", "Content-Length: 5e0",
            "Host: b", "X: a\rTransfer-Encoding: xchunked",
        ])
    func smuggling(headers: String) async throws {
        try await GatewaySystem.with { gateway in
            try await gateway.system.withClients("alice") { clients in
                var received = clients[0].events().makeAsyncIterator()
                try await clients[0].subscribe(to: "a", features: .message)
                let http = try await RawHTTP.open(gateway.system.address("gateway"))
                try await http.send(
                    head(gateway, "POST /v1/dev/publish HTTP/1.1", headers) + "0\r\n\r\n"
                        + publish(gateway, "smuggled", "Connection: close"))
                let text = await http.rest()
                #expect(!text.contains("HTTP/1.1 200"), "\(text)")
                #expect(text.contains("HTTP/1.1 400") || text.isEmpty, "\(text)")
                _ = try await gateway.call("POST", "/v1/dev/publish", #"{"channel": "a", "message": "end"}"#)
                #expect(await received.nextMessage()?.payload == .text("end"))
            }
        }
    }

    @Test("a flood of headers, a huge head and a wrong chunk end the connection, and the gateway serves on")
    func floods() async throws {
        try await GatewaySystem.with { gateway in
            let address = gateway.system.address("gateway")
            let many = (0..<2_000).map { "X-\($0): a\r\n" }.joined()
            let long = "X: \(String(repeating: "a", count: 100_000))\r\n"
            let uri = String(repeating: "a", count: 100_000)
            for bytes in [
                "GET /v1/dev/presence?channel=a HTTP/1.1\r\nHost: a\r\n\(many)\r\n",
                "GET /v1/dev/presence?channel=a HTTP/1.1\r\nHost: a\r\n\(long)\r\n",
                "GET /\(uri) HTTP/1.1\r\nHost: a\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}",
                "GET / HTTP/9.9\r\n\r\n", "nonsense\r\n\r\n",
                head(gateway, "POST /v1/dev/publish HTTP/1.1", "Transfer-Encoding: chunked") + "zz\r\n{}\r\n",
                head(gateway, "POST /v1/dev/publish HTTP/1.1", "Transfer-Encoding: chunked")
                    + "fffffffffffffffff\r\n{}\r\n",
            ] {
                let http = try await RawHTTP.open(address)
                try await http.send(bytes)
                let text = await http.rest()
                #expect(
                    text.isEmpty || text.hasPrefix("HTTP/1.1 4") || text.hasPrefix("HTTP/1.0 4"), "\(text)")
                #expect(text.isEmpty || text.contains("x-request-id: ") && text.contains(#""requestId":"#))
            }
            #expect(try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200)
        }
    }

    @Test(
        "no writing of a path or of a name leads to another app or another route",
        arguments: [
            "/v1/other/../dev/presence?channel=a", "/v1/dev/../other/presence?channel=a",
            "/v1/dev%2F..%2Fother/presence?channel=a", "/v1/dev%00/presence?channel=a",
            "/v1/DEV/presence?channel=a", "/v1/d%65v%2fx/presence?channel=a", "/v1//other/presence?channel=a",
            "/v1/*/presence?channel=a", "/v1/%2A/presence?channel=a", "/v1/dev%20/presence?channel=a",
            "/v1/%EF%BD%84ev/presence?channel=a", "/v1/%C0%AE%C0%AE/presence?channel=a",
            "/v1/other;app=dev/presence?channel=a",
        ])
    func tricks(path: String) async throws {
        try await GatewaySystem.with { gateway in
            let http = try await RawHTTP.open(gateway.system.address("gateway"))
            try await http.send(head(gateway, "GET \(path) HTTP/1.1", "Connection: close"))
            let text = await http.rest()
            let refusals = ["400", "403", "404"].map { "HTTP/1.1 \($0)" }
            #expect(refusals.contains { text.hasPrefix($0) }, "\(text)")
        }
    }

    @Test("deep, huge and broken JSON is refused with 400, and a huge batch with what is allowed")
    func json() async throws {
        try await GatewaySystem.with { gateway in
            let deep = String(repeating: "[", count: 1_000_000)
            for body in [
                deep, #"{"messages": "# + deep, #"{"channel": "a", "message": "\ud800"}"#,
                #"{"channel": "a", "message": 1e400}"#, #"{"channel": "a", "store": 1}"#, "nul", "\u{0}",
            ] {
                let answer = try await gateway.call("POST", "/v1/dev/batch", body)
                #expect(answer.status == 400 && answer.error == "invalidBody")
            }
            let http = try await RawHTTP.open(gateway.system.address("gateway"))
            let body =
                Array(#"{"channel": "a", "message": ""#.utf8) + [0xFF, 0xC0, 0x80] + Array(#""}"#.utf8)
            try await http.send(
                Array(head(gateway, "POST /v1/dev/publish HTTP/1.1", "Content-Length: \(body.count)").utf8)
                    + body)
            #expect(await http.answers(1).first?.hasPrefix("400") == true)
            try await http.close()
            for name in ["a\\u0000b", "\\u202e", "..", "a/b"] {
                let answer = try await gateway.call(
                    "POST", "/v1/dev/publish", #"{"channel": "\#(name)", "message": ""}"#)
                #expect(answer.status == 200 || answer.status == 400, "\(answer.text)")
            }
        }
    }

    @Test("many silent connections leave the gateway serving, and beyond the limit new ones wait")
    func crowd() async throws {
        try await GatewaySystem.with(
            .standalone, ["--connections-max", "200", "--idle-timeout", "3s"]
        ) { gateway in
            let address = gateway.system.address("gateway")
            var silent: [RawHTTP] = []
            for _ in 0..<150 { silent.append(try await RawHTTP.open(address)) }
            #expect(try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200)
            for _ in 0..<100 { silent.append(try await RawHTTP.open(address)) }
            // The silent ones are cut off after their time, and those that wait come in.
            let http = try await RawHTTP.open(address)
            try await http.send(publish(gateway, "at last"))
            #expect(await http.answers(1).first?.hasPrefix("200") == true)
            try await http.close()
            for connection in silent { _ = try? await connection.close() }
        }
    }

    @Test("over TLS, with a certificate of its own, and a renewed one is shown to the next connection")
    func tls() async throws {
        try await TestCertificate.with { files in
            try await GatewaySystem.with(
                .standalone,
                [
                    "--tls-listen", "127.0.0.1:0", "--tls-certificate", files.certificate, "--tls-key",
                    files.key,
                ]
            ) { gateway in
                func publishes() async throws -> Bool {
                    var configuration = TLSConfiguration.makeClientConfiguration()
                    configuration.trustRoots = .file(files.certificate)
                    let http = try await RawHTTP.open(
                        gateway.system.address("gateway.tls"),
                        tls: NIOSSLContext(configuration: configuration))
                    try await http.send(publish(gateway, "secret"))
                    let answer = await http.answers(1).first
                    try await http.close()
                    return answer?.hasPrefix("200") == true
                }
                #expect(try await publishes())
                let process = try gateway.system.process("rtm-standalone")
                try await eventually("it is said") { process.log.contains("a TLS certificate expires soon") }
                let metrics = "http://\(gateway.system.address("rtm-standalone admin"))/metrics"
                let page = try await gateway.system.get(metrics).body
                let days = page.firstMatch(
                    of: #/rtm_certificate_days_left{key="gateway.tls.certificate"} ([\d.]+)/#)
                let left = try #require(days.flatMap { Double($0.1) })
                #expect(left > 1.9 && left <= 2)
                // The same paths, with another key and certificate.
                _ = try TestCertificate(
                    in: URL(fileURLWithPath: files.certificate).deletingLastPathComponent())
                process.signal(SIGHUP)
                try await eventually("the renewal is said") {
                    process.log.contains(#""changed":["gateway.tls.certificate","gateway.tls.key"]"#)
                }
                #expect(try await publishes())
            }
        }
    }

    @Test("W-6: while messaging is away a publish gets 503 and when to come back, and then it succeeds again")
    func away() async throws {
        try await GatewaySystem.with(.fourProcesses) { gateway in
            let publish = {
                try await gateway.call("POST", "/v1/dev/publish", #"{"channel": "a", "message": "b"}"#)
            }
            #expect(try await publish().status == 200)
            let listen = gateway.system.address("messaging")
            try await gateway.system.process("rtm-messaging").kill9()
            for _ in 0..<3 {
                let answer = try await publish()
                #expect(
                    answer.status == 503 && answer.error == "channelPublishMessageFailed", "\(answer.text)")
                #expect(Int(answer.headers["retry-after"] ?? "") ?? 0 >= 1)
            }
            let ready = "http://\(gateway.system.address("rtm-gateway admin"))/ready"
            try await eventually("the gateway isn't ready") {
                try await gateway.system.get(ready).status == 503
            }
            try await gateway.system.launchMessaging(listen: listen)
            try await eventually("it publishes again") { try await publish().status == 200 }

            try await gateway.system.process("rtm-storage").kill9()
            let metadata = try await gateway.call("GET", "/v1/dev/metadata?channel=a")
            #expect(metadata.status == 503 && metadata.headers["retry-after"] != nil, "\(metadata.text)")
            try await gateway.system.process("rtm-presence").kill9()
            let presence = try await gateway.call("GET", "/v1/dev/presence?channel=a")
            #expect(presence.status == 503 && presence.headers["retry-after"] != nil, "\(presence.text)")
            #expect(try await publish().status == 200)
            try await gateway.system.launchStorage()
            try await gateway.system.launchPresence()
            try await gateway.isReady()
            #expect(try await gateway.call("GET", "/v1/dev/metadata?channel=a").status == 200)
            #expect(try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200)
        }
    }

    @Test("the keys of a file, in the short form, let in as those of the configuration do")
    func keyFile() async throws {
        let keys = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: keys) }
        let free = try GeneratedKey("dev/read")
        let bound = try GeneratedKey("dev/read", ["--channels", "a-", "--expires", "2999-12-31"])
        let dated = try GeneratedKey("dev/read", ["--expires", "2999-12-31"])
        try Data([free, bound, dated].map(\.line).joined(separator: "\n").utf8).write(to: keys)
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = try ServiceProcess(
            "rtm-gateway", ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"], directory: directory,
            environment: ["RTM_GATEWAY_KEYS_FILE": keys.path])
        defer { process.signal(SIGKILL) }
        let address = try #require(try await process.listening()["gateway"])
        for (key, channels, expires) in [(free, false, false), (bound, true, true), (dated, false, true)] {
            let http = try await RawHTTP.open(address)
            try await http.send(
                "GET /v1/keys/self HTTP/1.1\r\nHost: a\r\nX-API-Key: \(key.text)\r\nConnection: close\r\n\r\n"
            )
            let text = await http.rest()
            #expect(text.hasPrefix("HTTP/1.1 200"), "\(text)")
            #expect(text.contains(#""channels":"a-""#) == channels)
            #expect(text.contains(#""expires":"2999-12-31T00:00:00Z""#) == expires)
        }
    }
}
