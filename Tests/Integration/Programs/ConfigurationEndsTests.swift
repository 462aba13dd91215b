import Foundation
import RTMProtocol
import RTMTestSupport
import SwiftProtobuf
import Testing

/// Every number of the configuration at both of its ends: a program that takes a value has to live with it.
@Suite(.serialized, .ends(withinMinutes: 10)) struct ConfigurationEndsTests {
    /// The keys of rtm-standalone that have a range, from the table that it prints of them.
    private static func ranges() throws -> [(flag: String, end: String)] {
        try KeyTables.rows(of: "rtm-standalone").flatMap { row -> [(flag: String, end: String)] in
            guard row.allowed.hasPrefix("range ") else { return [] }
            return row.allowed.dropFirst(6).split(separator: "…").map { (row.flag, String($0)) }
        }
    }

    @Test("each number at each end starts a system that serves, or is refused; nothing is killed by it")
    func ends() async throws {
        let all = try Self.ranges()
        try #require(all.count > 100)
        // Ten keys at a time, and at no time the two ends of one.
        let groups = [0, 1].flatMap { end in
            let settings = all.enumerated().filter { $0.offset % 2 == end }.map(\.element)
            return stride(from: 0, to: settings.count, by: 10).map {
                Array(settings[$0..<min($0 + 10, settings.count)])
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, settings) in groups.enumerated() {
                if number >= 3 { try await group.next() }
                group.addTask {
                    guard try await Self.isRefused(settings) else { return }
                    // One contradicts another, or what is usual.
                    for setting in settings { _ = try await Self.isRefused([setting]) }
                }
            }
            try await group.waitForAll()
        }
    }

    private static func isRefused(_ settings: [(flag: String, end: String)]) async throws -> Bool {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let places = ["listen", "admin", "gateway-listen", "edge-web-socket-listen"].flatMap {
            ["--\($0)", "127.0.0.1:0"]
        }
        let process = try ServiceProcess(
            "rtm-standalone",
            places + ["--data", directory.path + "/data"] + settings.flatMap { [$0.flag, $0.end] },
            directory: directory)
        defer { if !process.hasExited { process.signal(SIGKILL) } }
        func what() -> Comment { "\(settings.map { "\($0.flag) \($0.end)" }): \(process.log.suffix(800))" }
        guard let listening = try? await process.listening() else {
            let status = try await process.exit()
            #expect(status == 2 && process.log.contains("configuration refused"), what())
            return true
        }
        let user = try await RawConnection.open(try #require(listening["edge"]))
        // Some of them leave no room for a user.
        try? await user.logIn("u")
        try? await user.send(3, .subscribe(.with { $0.channel = "a" }))
        try? await user.send(
            4,
            .publish(
                .with {
                    ($0.channelType, $0.channel, $0.messageType) = (.message, "a", .text)
                    $0.storeInHistory = true
                }))
        let page = try? await RunningSystem.get("http://\(try #require(listening["gateway"]))/console/")
        #expect(page?.status == 200, what())
        // Timers that are due at once have run by now.
        await letPass(.milliseconds(200))
        #expect(!process.hasExited, what())
        try? await user.close()
        process.signal(SIGTERM)
        try? await eventually("it ends", within: .seconds(10)) { process.hasExited }
        #expect(!process.log.contains("Fatal error"), what())
        return false
    }
}
