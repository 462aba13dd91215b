import Foundation
import RTMCredentials
import RTMCryptography
import RTMModel
import RTMServiceKit
import Synchronization

/// The keys that this gateway accepts, and when each was used last. A refusal doesn't say what was wrong with
/// the key, so that ids can't be tried out.
final class KeyRing: Sendable {
    private struct Entry {
        let record: APIKeyRecord
        /// The key as it came when its hash was found right. The next time it is compared with that: making
        /// the hash takes longer than all else about a key.
        var proven: APIKey?
        var use: Use?
    }

    /// When a key was used last, and when before that.
    struct Use: Sendable {
        let last: Date
        let before: Date?
    }

    private static let hashOfNothing = String(repeating: "0", count: 64)

    private let entries = Mutex<[String: Entry]>([:])

    init(_ records: [APIKeyRecord]) { take(records) }

    /// The configuration has other keys now.
    func take(_ records: [APIKeyRecord]) {
        entries.withLock { entries in
            let fresh = records.map { ($0.id, Entry(record: $0, use: entries[$0.id]?.use)) }
            entries = Dictionary(fresh) { _, last in last }
        }
    }

    /// What the key may do; nil if it isn't accepted.
    func admit(_ key: APIKey, now: Date) -> APIKeyRecord? {
        let entry = entries.withLock { $0[key.id] }
        guard isRight(key, for: entry), let record = entry?.record, now < record.expires ?? .distantFuture
        else { return nil }
        entries.withLock { entries in
            // The configuration may have changed meanwhile.
            guard let index = entries.index(forKey: key.id), entries.values[index].record == record else {
                return
            }
            entries.values[index].proven = key
            entries.values[index].use = Use(last: now, before: entries.values[index].use?.last)
        }
        return record
    }

    private func isRight(_ key: APIKey, for entry: Entry?) -> Bool {
        if let proven = entry?.proven, proven.isEqual(to: key) { return true }
        // The hash is made of unknown keys, too, so that the time of an answer says nothing.
        let hash = entry?.record.hash ?? Self.hashOfNothing
        return MessageCode.areEqual(Array(key.hash.utf8), Array(hash.utf8))
    }

    /// All keys with their use at this gateway, by id.
    var uses: [(record: APIKeyRecord, use: Use?)] {
        entries.withLock { entries in
            entries.values.sorted { $0.record.id < $1.record.id }.map { ($0.record, $0.use) }
        }
    }

    /// Nil if this gateway has never seen the key.
    func use(of id: String) -> Use? { entries.withLock { $0[id]?.use } }
}
