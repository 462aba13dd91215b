import Foundation
import NIOCore
import RTMClient
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Clients that make an edge hold memory for them.
@Suite(.serialized) struct HolderTests {
    @Test(
        "a thousand half frames before the login hold little memory in all, and others log in",
        .measuresMemory)
    func halfFrames() async throws {
        try await RunningSystem.with(.standalone) { system in
            let before = try system.residentBytes(of: "rtm-standalone")
            var connections: [RawConnection] = []
            let half: [UInt8] = [0, 0, 0x60, 0] + [UInt8](repeating: 0, count: 24_000)
            for _ in 0..<1_000 {
                let connection = try await RawConnection.open(system.address("edge"))
                try await connection.hello()
                try? await connection.send(bytes: half)
                connections.append(connection)
            }
            try await system.withClients("alice", "bob") { _ in }
            #expect(try system.residentBytes(of: "rtm-standalone") - before < 80 << 20)
            for connection in connections { try? await connection.close() }
        }
    }

    @Test(
        "fifty subscribes that continue, of a client that doesn't read: little memory, and an end",
        .measuresMemory)
    func unreadPages() async throws {
        try await RunningSystem.with(.fourProcesses, edge: ["--outbound-timeout", "3s"]) { system in
            let positions = try await positions(of: 50, system)
            try await system.withClients("alice") { clients in
                let payload = String(repeating: "x", count: 32_000)
                for channel in positions.keys {
                    for _ in 0..<16 { try await clients[0].publish(payload, to: .channel(channel)) }
                }
            }
            let before = try system.residentBytes(of: "rtm-edge")
            let deaf = try await RawConnection.open(system.address("edge"))
            try await deaf.logIn("mallory")
            var answers = deaf.frames.makeAsyncIterator()
            _ = await answers.next()
            _ = await answers.next()
            try await deaf.stopReading()
            for (number, (channel, position)) in positions.enumerated() {
                try await deaf.send(
                    UInt64(10 + number),
                    .subscribe(.with { ($0.channel, $0.features, $0.after) = (channel, 4, position) }))
            }
            var most = 0
            try await eventually("it is cut off", within: .seconds(60)) {
                most = max(most, try system.residentBytes(of: "rtm-edge") - before)
                try? await deaf.send(5, .heartbeat(.init()))
                return try await system.get("http://\(system.address("rtm-edge admin"))/metrics").body
                    .contains("rtm_edge_disconnects_total{code=\"slowConsumer\"} 1")
            }
            #expect(most < 12 << 20)
            try? await deaf.close()
        }
    }

    @Test(
        "R-18: twenty sessions that ask for thirty big snapshots each and don't read: little memory",
        .measuresMemory)
    func unreadSnapshots() async throws {
        try await RunningSystem.with(.fourProcesses) { system in
            let channels = (0..<30).map { "room \($0)" }
            var members: [RawConnection] = []
            for number in 0..<8 {
                members.append(try await member("member \(number)", of: channels, system))
            }
            let before = try system.residentBytes(of: "rtm-edge")
            var deaf: [RawConnection] = []
            for number in 0..<20 {
                let client = try await RawConnection.open(system.address("edge"))
                try await client.enter("mallory \(number)")
                try await client.stopReading()
                for (id, channel) in channels.enumerated() {
                    try await client.send(
                        UInt64(10 + id), .subscribe(.with { ($0.channel, $0.features) = (channel, 5) }))
                }
                deaf.append(client)
            }
            try await eventually("presence lists all of them", within: .seconds(60)) {
                try await system.get("http://\(system.address("rtm-presence admin"))/metrics").body
                    .contains("rtm_presence_members 840")
            }
            // 1.25 MiB may wait for each of them, which is 25 MiB, and an allocator needs more than it hands
            // out. The snapshots alone that they have asked for are 73 MiB.
            #expect(try system.residentBytes(of: "rtm-edge") - before < 40 << 20)
            for client in deaf + members { try? await client.close() }
        }
    }

    @Test("R-18: what clients don't read waits in the edge, where it is limited, and hardly in the kernel")
    func unreadInTheKernel() async throws {
        try await RunningSystem.with(.standalone) { system in
            var deaf: [RawConnection] = []
            for number in 0..<20 {
                let client = try await RawConnection.open(system.address("edge"), receiveBufferBytes: 4_096)
                try await client.enter("mallory \(number)")
                try await client.stopReading()
                try await client.send(10, .subscribe(.with { ($0.channel, $0.features) = ("room", 4) }))
                deaf.append(client)
            }
            let payload = String(repeating: "x", count: 32_000)
            try await system.withClients("alice") { clients in
                for _ in 0..<30 { try await clients[0].publish(payload, to: .channel("room")) }
            }
            try await eventually("the edge holds what nobody reads") {
                let page = try await system.get("http://\(system.address("rtm-standalone admin"))/metrics")
                return !page.body.contains("rtm_edge_outbound_bytes 0\n")
            }
            #expect(try Self.unread(system) < 20 * 192 << 10)
            // Whoever reads again gets all of it.
            for client in deaf {
                try await client.channel.setOption(.autoRead, value: true).get()
                var messages = 0
                for await frame in client.frames {
                    if case .publication = frame.body { messages += 1 }
                    if messages == 30 { break }
                }
                #expect(messages == 30)
            }
            for client in deaf { try? await client.close() }
        }
    }

    /// The bytes that the edge has written and that its clients' machines haven't acknowledged yet.
    private static func unread(_ system: RunningSystem) throws -> Int {
        let port = try #require(system.address("edge").split(separator: ":").last.flatMap { Int($0) })
        let local = ":" + String(format: "%04X", port)
        let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
        return table.split(separator: "\n").dropFirst().reduce(0) { sum, line in
            let fields = line.split(separator: " ")
            guard fields[1].hasSuffix(local), let queued = fields[4].split(separator: ":").first else {
                return sum
            }
            return sum + (Int(queued, radix: 16) ?? 0)
        }
    }

    /// Somebody whose states are 16 KB in each of the channels.
    private func member(
        _ name: String, of channels: [String], _ system: RunningSystem
    ) async throws -> RawConnection {
        let client = try await RawConnection.open(system.address("edge"))
        try await client.enter(name)
        for (number, channel) in channels.enumerated() {
            try await client.send(
                UInt64(10 + number), .subscribe(.with { ($0.channel, $0.features) = (channel, 4) }))
        }
        var done = 0
        for await frame in client.frames {
            switch frame.body {
            case .subscribed:
                let items = (0..<16).map { key in
                    Rtm_Client_StateItem.with {
                        ($0.key, $0.value) = ("\(key)", String(repeating: "x", count: 1_000))
                    }
                }
                try await client.send(
                    100 + frame.requestID,
                    .setState(
                        .with {
                            ($0.channelType, $0.channel) = (.message, channels[Int(frame.requestID) - 10])
                            $0.items = items
                        }))
            case .error(let error): throw RTMError(.invalidParameter, error.reason)
            case .done:
                done += 1
                if done == channels.count { return client }
            default: break
            }
        }
        throw RawConnection.NotLoggedIn()
    }

    /// Channels with the positions at their beginnings.
    private func positions(
        of count: Int, _ system: RunningSystem
    ) async throws -> [String: Rtm_Client_StreamPosition] {
        let scout = try await RawConnection.open(system.address("edge"))
        try await scout.logIn("scout")
        var answers = scout.frames.makeAsyncIterator()
        _ = await answers.next()
        _ = await answers.next()
        var positions: [String: Rtm_Client_StreamPosition] = [:]
        for number in 0..<count {
            let channel = "room \(number)"
            try await scout.send(
                UInt64(3 + number), .subscribe(.with { ($0.channel, $0.features) = (channel, 4) }))
            positions[channel] = try #require(await answers.next()).subscribed.position
        }
        try await scout.close()
        return positions
    }
}
