import Foundation
import RTMModel
import RTMServiceKit
import RTMTestSupport
import RTMWire
import Testing

@testable import RTMStorageServer

extension ChannelKey {
    static func message(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .message, name: name) }
    static func user(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .none, name: name) }
}

extension Caller {
    static func user(_ name: String, session: UInt64 = 1, instance: UInt64 = 1) -> Caller {
        Caller(
            appID: "app", userID: name, session: SessionID(rawValue: session), instance: instance)
    }
}

extension MetadataTarget {
    static let lobby = MetadataTarget(channelType: .message, target: "lobby")
}

extension LockPlace {
    static let lobby = LockPlace(channelType: .message, channel: "lobby")
}

/// Makes a directory for the body and removes it afterwards.
func withDirectory<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = FileManager.default.temporaryDirectory.appending(path: "rtm-storage-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// The error code with which a call is refused, or nil when it isn't.
func refusal<Success>(_ body: () throws -> Success) -> RTMError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? RTMError
    }
}

extension MetricsRegistry {
    /// The value of a metric without labels, as a scrape shows it.
    func value(_ name: String) -> Int? {
        let line = PrometheusExporter.text(self).split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line?.split(separator: " ").last.flatMap { Int($0) }
    }
}

/// An engine over which the service is tested.
struct StorageEngine: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// That of `storage.database`; nil where everything is kept in a file.
    let database: (any DatabaseEngine)?

    static let sqlite = StorageEngine(testDescription: "sqlite", database: nil)

    /// Runs the body with the value of `storage.database`, and with the server if there is one.
    func with(_ body: (_ url: String?, RunningPostgres?) async throws -> Void) async throws {
        guard database != nil else { return try await body(nil, nil) }
        try await RunningPostgres.with { try await body($0.url, $0) }
    }
}
