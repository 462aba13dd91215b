import Foundation
import RTMTestSupport
import Testing

/// Bodies that are refused, and bodies whose last byte doesn't come.
@Suite(.serialized, .ends(withinMinutes: 3)) struct GatewayBodyTests {
    private func head(_ gateway: GatewaySystem, _ path: String, _ length: Int) -> String {
        "POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(gateway.text(of: "admin"))\r\n"
            + "Content-Length: \(length)\r\n\r\n"
    }

    @Test("R-11: a body of 1.4 million channels is refused at its limit, and counts by its bytes")
    func refusedBodies() async throws {
        try await GatewaySystem.with(.standalone, ["--rates-key", "50", "--rates-app", "5000"]) { gateway in
            let body =
                #"{"message": "m", "channels": [\#(String(repeating: #""","#, count: 1_390_000))"""# + "]}"
            var statuses: [Int] = []
            for _ in 0..<5 {
                let answer = try await gateway.call("POST", "/v1/dev/broadcast", body)
                statuses.append(answer.status)
            }
            #expect(statuses == [400, 429, 429, 429, 429])
            // The other app has rates of its own.
            let other = try await gateway.call(
                "POST", "/v1/other/publish", key: "other", #"{"channel": "a", "message": "b"}"#)
            #expect(other.status == 200)
        }
    }

    @Test(
        "150 bodies without their last byte hold a share of the memory for bodies, and others have theirs",
        .measuresMemory)
    func halfBodies() async throws {
        try await GatewaySystem.with(.standalone, ["--bodies-total-bytes-max", "48MiB"]) { gateway in
            let before = try gateway.system.residentBytes(of: "rtm-standalone")
            let half = head(gateway, "/v1/dev/publish", 4 << 20) + String(repeating: " ", count: 4 << 20 - 1)
            var all: [RawHTTP] = []
            var refused = 0
            for _ in 0..<150 {
                let http = try await RawHTTP.open(gateway.system.address("gateway"))
                try? await http.send(half)
                all.append(http)
            }
            #expect(try gateway.system.residentBytes(of: "rtm-standalone") - before < 120 << 20)
            // A short body needs no share, and the other app has one.
            let short = try await gateway.call(
                "POST", "/v1/dev/publish", #"{"channel": "a", "message": "b"}"#)
            #expect(short.status == 200)
            let long = #"{"channel": "a", "message": "\#(String(repeating: "x", count: 30_000))"}"#
            let other = try await gateway.call("POST", "/v1/other/publish", key: "other", long)
            #expect(other.status == 200)
            for http in all.dropFirst(20) {
                // The last byte of a body that was refused.
                try? await http.send(" ")
                if await http.answers(1).first?.hasPrefix("429") == true { refused += 1 }
            }
            #expect(refused > 100)
            for http in all { try? await http.close() }
        }
    }
}
