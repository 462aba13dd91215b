import Foundation
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Callers of one app who ask for more than the link to storage takes, and what a caller of another app
/// notices.
@Suite(.serialized, .ends(withinMinutes: 5)) struct SharedStorageLinkTests {
    private static let payload = String(repeating: "x", count: 30_000)

    private func fill(_ gateway: GatewaySystem) async throws {
        for number in 0..<100 {
            let answer = try await gateway.call(
                "POST", "/v1/dev/publish",
                #"{"channel": "big", "store": true, "message": "\#(number) \#(Self.payload)"}"#)
            #expect(answer.status == 200)
        }
    }

    /// Writes metadata of the other app until it is over. Every write has to be done, and soon.
    private func witness(_ gateway: GatewaySystem, _ isOver: Shared<Bool>) async throws {
        var times: [Duration] = []
        while !isOver.present {
            let start = ContinuousClock.now
            let answer = try await gateway.call(
                "PUT", "/v1/other/metadata?channel=a", key: "other",
                #"{"items": [{"key": "k", "value": "\#(times.count)"}]}"#)
            #expect(answer.status == 200, "\(answer.text)")
            times.append(.now - start)
            await letPass(.milliseconds(5))
        }
        times.sort()
        let slow = times[min(times.count - 1, times.count * 99 / 100)]
        // `swift test --attachments-path FOLDER` keeps the figures.
        Attachment.record(
            "\(times.count) writes: median \(times[times.count / 2]), p99 \(slow)",
            named: "witness.txt")
        #expect(slow < .seconds(3) * timeScale)
    }

    private func watched(
        _ gateway: GatewaySystem, _ attack: @escaping @Sendable () async throws -> Void
    ) async throws {
        let isOver = Shared(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await witness(gateway, isOver) }
            group.addTask {
                defer { isOver.withLock { $0 = true } }
                try await attack()
            }
            try await group.waitForAll()
        }
        let storage = try await gateway.system.get(
            "http://\(gateway.system.address("rtm-storage admin"))/metrics"
        ).body
        #expect(storage.contains("rtm_storage_waiting_reads 0\n"))
    }

    @Test(
        "R-20: one key asks for pages of events and history over 200 connections; writes of another app go on"
    )
    func key() async throws {
        try await GatewaySystem.with(.fourProcesses, events: "1h") { gateway in
            try await fill(gateway)
            let address = gateway.system.address("gateway")
            let head = "HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(gateway.text(of: "admin"))\r\n\r\n"
            let requests =
                "GET /v1/dev/events?limit=1000 \(head)GET /v1/dev/history?channel=big&limit=100 \(head)"
            try await watched(gateway) {
                var all: [RawHTTP] = []
                for _ in 0..<200 {
                    let http = try await RawHTTP.open(address)
                    try await http.send(String(repeating: requests, count: 10))
                    all.append(http)
                }
                await letPass(.seconds(8))
                for http in all { try? await http.close() }
            }
        }
    }

    @Test("R-20: 40 guests at an edge ask for history without a rate; writes of another app go on")
    func guests() async throws {
        try await GatewaySystem.with(.fourProcesses) { gateway in
            try await fill(gateway)
            try await watched(gateway) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            let guest = try await RawConnection.open(gateway.system.address("edge"))
                            try await guest.enter("mallory \(number)")
                            let reading = Task { for await _ in guest.frames {} }
                            for id in 0..<400 {
                                try? await guest.send(
                                    UInt64(10 + id),
                                    .getHistory(
                                        .with {
                                            ($0.channelType, $0.channel, $0.count) = (.message, "big", 100)
                                        }))
                                await letPass(.milliseconds(20))
                            }
                            try? await guest.close()
                            await reading.value
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
