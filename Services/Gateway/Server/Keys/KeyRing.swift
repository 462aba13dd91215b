import Foundation
import RTMAPIKey
import RTMCryptography
import RTMModel
import RTMServiceKit
import Synchronization

/// The keys that this gateway accepts, and when each was used last. A refusal doesn't say what was wrong with
/// the key, so that ids can't be tried out.
final class KeyRing: Sendable {
    private struct State {
        var records: [String: APIKeyRecord] = [:]
        var uses: [String: Use] = [:]
    }

    /// When a key was used last, and when before that.
    struct Use: Sendable {
        let last: Date
        let before: Date?
    }

    private static let hashOfNothing = String(repeating: "0", count: 64)

    private let state = Mutex(State())

    init(_ records: [APIKeyRecord]) { take(records) }

    /// The configuration has other keys now.
    func take(_ records: [APIKeyRecord]) {
        let fresh = Dictionary(records.map { ($0.id, $0) }) { _, last in last }
        state.withLock { state in
            state.records = fresh
            state.uses = state.uses.filter { fresh[$0.key] != nil }
        }
    }

    /// What the key may do; nil if it isn't accepted.
    func admit(_ key: APIKey, now: Date) -> APIKeyRecord? {
        let record = state.withLock { $0.records[key.id] }
        // The hash is made of unknown keys, too, so that the time of an answer says nothing.
        let isRight = MessageCode.areEqual(
            Array(key.hash.utf8), Array((record?.hash ?? Self.hashOfNothing).utf8))
        guard let record, isRight, now < record.expires ?? .distantFuture else { return nil }
        state.withLock { $0.uses[key.id] = Use(last: now, before: $0.uses[key.id]?.last) }
        return record
    }

    /// All keys with their use at this gateway, by id.
    var uses: [(record: APIKeyRecord, use: Use?)] {
        state.withLock { state in
            state.records.values.sorted { $0.id < $1.id }.map { ($0, state.uses[$0.id]) }
        }
    }

    /// Nil if this gateway has never seen the key.
    func use(of id: String) -> Use? { state.withLock { $0.uses[id] } }
}
