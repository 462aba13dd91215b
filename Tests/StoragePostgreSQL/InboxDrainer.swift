import Foundation
import RTMModel
import RTMProtocol
import RTMServiceKit
import RTMTestSupport
import RTMWire
import SwiftProtobuf

@testable import RTMStoragePostgreSQL
@testable import RTMStorageServer
@testable import StorageTests

/// The owner of a shard that drains the inbox when the test asks for it.
struct InboxDrainer {
    static let rules = InboxRules(
        apps: ["app", "quiet"], retention: HistoryRetention(usual: .oneWeek, ofApps: ["quiet": .off]))

    let store: PostgresWriter
    private var writer: StorageWriter<PostgresWriter>
    private var time: UInt64 = 1_000

    init(_ url: String, _ change: (inout PostgresOptions) -> Void = { _ in }) throws {
        var options = PostgresOptions(url: url)
        // The machine may be busy with other tests.
        options.timeout = .seconds(5)
        options.settleTimeout = .seconds(20)
        options.shards = 1
        change(&options)
        store = try PostgresWriter(options)
        writer = try StorageWriter(store, rules: StorageRules(), now: Self.now(time))
        _ = writer.run([StorageWrite(Self.rules)], now: Self.now(time))
    }

    func close() { store.close() }

    private static func now(_ time: UInt64) -> StorageNow {
        StorageNow(wall: 1_700_000_000_000 + time, steady: time)
    }

    /// Drains one page.
    mutating func page() -> WriteOutcome {
        time += 1
        let now = Self.now(time)
        return writer.drainInbox(now: now) { now }
    }

    /// Drains everything that is there, and returns the payloads in the order of publishing.
    mutating func drain() -> [String] {
        var texts: [String] = []
        while case let outcome = page(), !outcome.hasNothing, outcome.failure == nil {
            texts += outcome.texts
        }
        return texts
    }

    mutating func prove() -> StoreFailure? { writer.prove(now: Self.now(time)) }

    /// What waits for messaging, in its order.
    func outbox() throws -> [StorageOutboxEvent] {
        let reader = PostgresReader(store.options)
        defer { reader.close() }
        return try reader.events(after: 0, limit: 100_000)
    }
}

extension WriteOutcome {
    var texts: [String] { events.map(\.text) }
}

extension StorageOutboxEvent {
    var publication: Rtm_Client_Publication? { try? Rtm_Client_Publication(serializedBytes: event) }
    var text: String { String(decoding: publication?.message.payload ?? .init(), as: UTF8.self) }
}

/// One connection of an app, which may stand in a transaction for as long as the test wants.
struct AppSession {
    private let connection: PostgresConnection

    init(_ server: RunningPostgres) throws {
        connection = try PostgresConnection(.init(url: server.url))
        try run("SET idle_in_transaction_session_timeout = 0")
    }

    func run(_ sql: String) throws { try connection.execute(sql, within: .seconds(60)) }
    func begin() throws { try run("BEGIN") }
    func commit() throws { try run("COMMIT") }

    func publish(_ text: String, to channel: String = "lobby") throws {
        try run("SELECT heliograph.heliograph_publish('app', '\(channel)', '\(text)')")
    }

    func close() { connection.close() }
}
