import AgoraRtmKit
import Foundation
import RTMTestSupport
import Testing

/// Apps that publish much, at the usual rates of the server.
@Suite(.serialized, .ends(withinMinutes: 3)) struct TransferAppTests {
    private static let usualRates = [
        "--edge-rates-publish", "60", "--edge-rates-session-publish", "1000",
        "--edge-rates-session-publish-bytes", "4194304",
    ]

    @Test("R-2: a file of 3 MB in chunks of 32 KiB goes through, when each publish is awaited")
    func file() async throws {
        try await RunningSystem.with(.standalone, edge: Self.usualRates) { system in
            let anna = try await AppClient.login("anna", at: system.address("edge"))
            let ben = try await AppClient.login("ben", at: system.address("edge"))
            try succeeded(await ben.kit.subscribe(channelName: "files", option: nil))
            let file = Data((0..<94 * 32_768).map { UInt8(truncatingIfNeeded: $0 / 7) })
            var rest = file[...]
            while !rest.isEmpty {
                let chunk = Data(rest.prefix(32_768))
                try succeeded(await anna.kit.publish(channelName: "files", data: chunk, option: nil))
                rest = rest.dropFirst(32_768)
            }
            try await eventually("all chunks") { ben.messages.present.count == 94 }
            let received = ben.messages.present.reduce(into: Data()) {
                $0.append($1.message.rawData ?? Data())
            }
            #expect(received == file)
            for client in [anna, ben] { client.destroy() }
        }
    }

    @Test("R-2: a flood that nobody awaits is refused above the rate, and what is accepted arrives in order")
    func flood() async throws {
        try await RunningSystem.with(.standalone, edge: Self.usualRates) { system in
            let anna = try await AppClient.login("anna", at: system.address("edge"))
            let ben = try await AppClient.login("ben", at: system.address("edge"))
            try succeeded(await ben.kit.subscribe(channelName: "lobby", option: nil))
            let outcomes = Shared([(Int, AgoraRtmErrorInfo?)]())
            for number in 0..<200 {
                try anna.kit.publish(channelName: "lobby", message: "\(number)", option: nil) { _, error in
                    outcomes.withLock { $0.append((number, error)) }
                }
            }
            try await eventually("all have an outcome") { outcomes.present.count == 200 }
            let refused = outcomes.present.compactMap(\.1)
            #expect(refused.count > 100, "about 45 may come at once, and 16 wait")
            #expect(refused.allSatisfy { $0.errorCode == .channelPublishMessageTooFrequent })
            let accepted = outcomes.present.filter { $0.1 == nil }.map(\.0).sorted().map(String.init)
            #expect(accepted.count > 45)
            try await eventually("what was accepted arrives") {
                ben.messages.present.count >= accepted.count
            }
            #expect(ben.messages.present.compactMap(\.message.stringData) == accepted)
            // Another channel is free all the while.
            try succeeded(await anna.kit.publish(channelName: "hall", message: "free", option: nil))
            for client in [anna, ben] { client.destroy() }
        }
    }
}
