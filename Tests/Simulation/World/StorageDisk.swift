import Foundation
import RTMServiceKit
import RTMStorageServer

@testable import RTMTestKit

/// What outlives storage: its directory, and what its operator has configured.
final class StorageDisk {
    private let directory =
        FileManager.default.temporaryDirectory.appendingPathComponent("heliograph-\(UUID().uuidString)").path
    private let configuration: Configuration

    init() throws {
        let schema = ConfigurationSchema(
            StorageDefinition.service().keys + [CommonKeys.apps.declaration], section: "test")
        // A record by position.
        let place = AppRecord.fields.firstIndex { $0.name == "events" } ?? 0
        let app = "app" + String(repeating: ":", count: place) + "72h"
        configuration = try ConfigurationLoader(schema: schema) { _ in "" }.load(
            arguments: [], environment: [CommonKeys.apps.declaration.variable: app])
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    /// Begins a life of storage.
    func start(
        messaging: [RTMTestKit.Host], in network: SimulatedNetwork, random: RandomStream
    ) throws -> StorageProcess {
        try StorageProcess(configuration, in: directory, messaging: messaging, network, random: random)
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory) }
}
