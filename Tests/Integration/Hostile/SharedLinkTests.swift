import Foundation
import NIOCore
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// One client against the link that all clients of an edge share.
@Suite(.serialized) struct SharedLinkTests {
    /// Two users at one edge: one publishes and one listens. Every publish has to be accepted and to arrive.
    private struct Witness {
        let publisher: RawConnection
        let listener: RawConnection
        let channel: String

        static func enter(_ number: Int, _ system: RunningSystem) async throws -> Witness {
            let channel = "witness \(number)"
            let witness = Witness(
                publisher: try await RawConnection.open(system.address("edge")),
                listener: try await RawConnection.open(system.address("edge")), channel: channel)
            try await witness.publisher.enter("publisher \(number)")
            try await witness.listener.enter("listener \(number)")
            try await witness.listener.send(
                3, .subscribe(.with { ($0.channel, $0.features) = (channel, 4) }))
            return witness
        }

        /// Publishes until the other task is over, and says what was refused and what arrived.
        func watch(_ isOver: Shared<Bool>) async throws -> (sent: Int, refused: [String], received: [String])
        {
            let answers = Shared(0)
            let accepted = Task {
                var refused: [String] = []
                for await frame in publisher.frames {
                    switch frame.body {
                    case .published: answers.withLock { $0 += 1 }
                    case .error(let error):
                        answers.withLock { $0 += 1 }
                        refused.append(error.reason)
                    default: break
                    }
                    if case .loggedOut = frame.body { break }
                }
                return refused
            }
            let arrived = Task {
                var received: [String] = []
                for await frame in listener.frames {
                    switch frame.body {
                    case .publication(let publication):
                        let text = String(decoding: publication.message.payload, as: UTF8.self)
                        if text == "end" { return received }
                        received.append(text)
                    case .gap: received.append("gap")
                    default: break
                    }
                }
                return received
            }
            var sent = 0
            while !isOver.present {
                try await publish("\(sent)", UInt64(10 + sent))
                // Who only listens is cut off after 15 seconds, and a slow machine needs more for the flood.
                if sent.isMultiple(of: 100) { try await listener.send(9, .heartbeat(.init())) }
                sent += 1
                await letPass(.milliseconds(2))
            }
            try await publish("end", UInt64(10 + sent))
            let received = await arrived.value
            // The listener may have the last message before its publisher knows of it.
            let all = sent + 1
            try await eventually("each publish has its answer") { answers.present == all }
            try await publisher.send(5, .logout(.init()))
            let refused = await accepted.value
            return (sent, refused, received)
        }

        private func publish(_ text: String, _ id: UInt64) async throws {
            try await publisher.send(
                id,
                .publish(
                    .with {
                        ($0.channelType, $0.channel, $0.messageType) = (.message, channel, .text)
                        $0.payload = Data(text.utf8)
                    }))
        }
    }

    @Test("one client publishes 32 KB to thousands of channels: its socket waits, and others notice nothing")
    func thousandsOfChannels() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            var witnesses: [Witness] = []
            for number in 0..<4 { witnesses.append(try await Witness.enter(number, system)) }
            let attacker = try await RawConnection.open(system.address("edge"))
            try await attacker.enter("mallory")
            let isOver = Shared(false)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for witness in witnesses {
                    group.addTask {
                        let (sent, refused, received) = try await witness.watch(isOver)
                        #expect(refused.isEmpty)
                        #expect(received == (0..<sent).map { "\($0)" })
                    }
                }
                group.addTask {
                    defer { isOver.withLock { $0 = true } }
                    try await Self.flood(attacker, channels: 3_000)
                }
                try await group.waitForAll()
            }
            let metrics = try await system.get("http://\(system.address("rtm-edge admin"))/metrics").body
            #expect(metrics.contains("rtm_edge_gaps_total 0"))
            #expect(!metrics.contains("rtm_edge_publisher_holds_total 0"))
            try await attacker.close()
        }
    }

    /// Publishes once to each of the channels, as fast as the socket takes it, and waits for the answers.
    private static func flood(_ attacker: RawConnection, channels: Int) async throws {
        let answers = Task {
            var published = 0
            for await frame in attacker.frames {
                if case .published = frame.body { published += 1 }
                if published == channels { break }
            }
            return published
        }
        for number in 0..<channels {
            let bytes = try RawConnection.frame(
                UInt64(10 + number),
                .publish(
                    .with {
                        ($0.channelType, $0.channel) = (.message, "flood \(number)")
                        $0.payload = Data(count: 32_768)
                    }))
            try await attacker.send(bytes: bytes)
        }
        #expect(await answers.value == channels)
    }
}
