import Foundation
import NIOCore
import RTMModel
import RTMProtocol
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

/// A real `rtm-storage` that collects events is killed while messages are published.
@Suite("W-40, W-41: storage is killed while it collects events", .serialized)
struct EventKillTests {
    private static let rounds = ProcessInfo.processInfo.environment["SOAK"].flatMap { Int($0) } ?? 4
    private static let channels = (0..<8).map { ChannelKey.message("channel \($0)") }
    private static let oldest = StreamPosition(epoch: 0, offset: 0)

    @Test(
        "every message becomes one event, in the order of its channel, with no number missing and none twice")
    func kill() async throws {
        try await withDirectory { directory in
            let file = directory + "/apps.yaml"
            try "apps:\n  - {id: app, events: 1h}\n".write(toFile: file, atomically: true, encoding: .utf8)
            let options = ["--config", file]
            try await LogHost.with { host in
                let publisher = try await host.publisher()
                // What is published before the first collection isn't among the events.
                try await host.withStorage(directory, options) { process, caller in
                    try await eventually("events are collected") {
                        try await publisher.publish("first", to: .message("first"))
                        return try await !caller.events(after: Self.oldest).events.isEmpty
                    }
                    try await process.kill9()
                }
                var published: [String] = []
                for round in 0..<Self.rounds {
                    try await host.withStorage(directory, options) { process, _ in
                        for number in 0..<200 {
                            published.append("\(round) \(number)")
                            for channel in Self.channels {
                                try await publisher.publish("\(round) \(number)", to: channel)
                            }
                            if number == 100 + 10 * round { try await process.kill9() }
                        }
                    }
                }
                try await host.withStorage(directory, options) { process, caller in
                    try await check(published, caller)
                    process.signal(SIGTERM)
                    #expect(try await process.exit() == 0)
                }
                try await publisher.close()
            }
        }
    }

    private func check(_ published: [String], _ caller: StorageConnection) async throws {
        var events: [AppEvent] = []
        var place = Self.oldest
        try await eventually("everything is collected") {
            let page = try await caller.events(after: place, wait: .seconds(1))
            events += page.events
            place = page.next
            return Self.channels.allSatisfy { channel in
                events.last { $0.key == channel.name }.map { text(of: $0) } == published.last
            }
        }
        #expect(!events.contains { $0.type == .gap })
        #expect(events.map(\.position.offset) == Array(1...UInt64(events.count)))
        for channel in Self.channels {
            let own = events.filter { $0.key == channel.name }
            #expect(own.map(\.number) == Array(1...UInt64(published.count)), "\(channel.name)")
            #expect(own.map { text(of: $0) } == published, "\(channel.name)")
        }
    }

    private func text(of event: AppEvent) -> String? {
        let length = UInt32(event.body.count)
        let prefix = [UInt8](withUnsafeBytes(of: length.bigEndian) { Array($0) })
        let frame = try? frames(prefix + event.body).first
        return frame.map { String(decoding: $0.publication.message.payload, as: UTF8.self) }
    }
}
