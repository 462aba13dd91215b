import Foundation
import NIOCore
import NIOPosix
import RTMTestSupport
import Testing

/// Connections to a gateway that ask and don't read, or say nothing, without a credential.
@Suite(.serialized, .ends(withinMinutes: 3)) struct GatewayHolderTests {
    private static let file = "GET /console/inspector.js HTTP/1.1\r\nHost: a\r\n\r\n"

    private func key(_ gateway: GatewaySystem) -> String {
        "GET /v1/keys/self HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(gateway.text(of: "admin"))\r\n\r\n"
    }

    /// A connection that reads nothing, and has little room in its kernel.
    private func deaf(_ gateway: GatewaySystem) async throws -> any Channel {
        let parts = gateway.system.address("gateway").split(separator: ":")
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_rcvbuf), value: 4_096)
            .connect(host: String(parts[0]), port: Int(parts[1]) ?? 0).get()
    }

    private func metric(_ name: String, _ gateway: GatewaySystem) async throws -> Int {
        let page = try await gateway.system.get(
            "http://\(gateway.system.address("rtm-standalone admin"))/metrics"
        ).body
        let line = page.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    @Test("300 connections that ask for a file again and again and don't read end, and hold little memory")
    func unread() async throws {
        try await GatewaySystem.with(.standalone, ["--outbound-timeout", "3s"]) { gateway in
            let before = try gateway.system.residentBytes(of: "rtm-standalone")
            var all: [any Channel] = []
            for _ in 0..<300 {
                let channel = try await deaf(gateway)
                try? await channel.writeAndFlush(
                    ByteBuffer(string: String(repeating: Self.file, count: 100)))
                all.append(channel)
            }
            #expect(try gateway.system.residentBytes(of: "rtm-standalone") - before < 80 << 20)
            let name = "rtm_gateway_connections_ended_total{cause=\"unread\"}"
            try await eventually("all of them are ended", within: .seconds(30)) {
                try await metric(name, gateway) == 300
            }
            #expect(try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200)
            for channel in all { try? await channel.close() }
        }
    }

    @Test("bodies of 4 MiB with half a million objects are refused, and take no gigabytes")
    func manyObjects() async throws {
        try await GatewaySystem.with(.standalone) { gateway in
            let before = try gateway.system.residentBytes(of: "rtm-standalone")
            let many = Array(repeating: #"{"":0}"#, count: 500_000).joined(separator: ",")
            for body in [
                #"{"channel": "c", "message": [\#(many)]}"#, #"{"x": [\#(many)]}"#,
                #"{"channel": [\#(many)], "message": ["#,
            ] {
                let answer = try await gateway.call("POST", "/v1/dev/publish", body)
                #expect([400, 413].contains(answer.status), "\(answer.status) \(answer.text)")
            }
            let peak = try gateway.system.residentBytes(of: "rtm-standalone", atMost: true)
            #expect(peak - before < 600 << 20, "\((peak - before) >> 20) MiB")
        }
    }

    @Test("unread bytes are bounded in all: those that hold the most lose first")
    func overfull() async throws {
        let options = ["--outbound-timeout", "60s", "--outbound-total-bytes-max", "1MiB"]
        try await GatewaySystem.with(.standalone, options) { gateway in
            var all: [any Channel] = []
            for _ in 0..<40 {
                let channel = try await deaf(gateway)
                try? await channel.writeAndFlush(
                    ByteBuffer(string: String(repeating: Self.file, count: 100)))
                all.append(channel)
            }
            let name = "rtm_gateway_connections_ended_total{cause=\"overfull\"}"
            try await eventually("some are ended") { try await metric(name, gateway) > 0 }
            #expect(try await metric("rtm_gateway_unread_bytes", gateway) <= 1 << 20)
            #expect(try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200)
            for channel in all { try? await channel.close() }
        }
    }

    @Test("the oldest connection without a credential makes room, and one with a credential stays")
    func places() async throws {
        try await GatewaySystem.with(.standalone, ["--connections-per-address-max", "8"]) { gateway in
            let address = gateway.system.address("gateway")
            let known = try await RawHTTP.open(address)
            try await known.send(key(gateway))
            #expect(await known.answers(1).first?.hasPrefix("200") == true)
            var silent: [RawHTTP] = []
            for _ in 0..<20 { silent.append(try await RawHTTP.open(address)) }
            // The oldest ones were closed for the newcomers.
            for http in silent.prefix(12) { #expect(await http.rest().isEmpty) }
            // A newcomer with a key is served.
            #expect(try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200)
            try await known.send(key(gateway))
            #expect(await known.answers(1).first?.hasPrefix("200") == true)
            for http in silent { try? await http.close() }
            try await known.close()
        }
    }

    @Test("where all places are taken by holders of keys, a newcomer is answered with 503 and the limit")
    func refused() async throws {
        try await GatewaySystem.with(.standalone, ["--connections-per-address-max", "4"]) { gateway in
            let address = gateway.system.address("gateway")
            var known: [RawHTTP] = []
            for _ in 0..<4 {
                let http = try await RawHTTP.open(address)
                try await http.send(key(gateway))
                #expect(await http.answers(1).first?.hasPrefix("200") == true)
                known.append(http)
            }
            let late = try await RawHTTP.open(address)
            try? await late.send(key(gateway))
            let text = await late.rest()
            #expect(text.hasPrefix("HTTP/1.1 503") && text.contains("Retry-After: 5"), "\(text)")
            #expect(text.contains("4 connections come from this address"), "\(text)")
            for http in known { try await http.close() }
            try await eventually("the places are free again") {
                try await gateway.call("GET", "/v1/dev/presence?channel=a").status == 200
            }
        }
    }

    @Test("more than 128 requests without an answer end their connection")
    func pipeline() async throws {
        try await GatewaySystem.with { gateway in
            let http = try await RawHTTP.open(gateway.system.address("gateway"))
            let request = "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n"
            try? await http.send(String(repeating: request, count: 20_000))
            let answers = await http.rest().components(separatedBy: "HTTP/1.1 404").count - 1
            #expect(answers < 20_000)
        }
    }
}
