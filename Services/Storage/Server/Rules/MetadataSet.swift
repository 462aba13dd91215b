import RTMModel
package import RTMWire

/// The metadata of one channel or user (D-1), and what a write does to it. Pure.
///
/// A write compares the set's revision first, then those of its items (D-6). After that the whole write takes
/// place, or nothing of it (D-7). Each write takes one new revision from the set's counter. The counter
/// continues even when no item is left, so a comparison with an old revision can never succeed again (D-10).
package struct MetadataSet: Sendable, Hashable {
    /// An item and its place in the order of creation (D-31).
    package struct Entry: Sendable, Hashable {
        package let place: Int64
        package var item: MetadataItem

        package init(place: Int64, item: MetadataItem) {
            (self.place, self.item) = (place, item)
        }
    }

    /// What a write has changed, for the store that keeps the set.
    package struct Change: Sendable, Hashable {
        /// The changed items by their keys; nil for one that was removed.
        package var entries: [String: Entry?] = [:]

        /// Adds what a later write has changed.
        mutating func merge(_ later: Self) { entries.merge(later.entries) { $1 } }
    }

    /// Limits of one set. Without `itemsMax` the bytes alone limit the items.
    struct Limits: Sendable, Hashable {
        var itemsMax: Int?
        var bytesMax = RTMModel.Limits.metadataBytesMax
    }

    /// 0 if nothing was ever written.
    package private(set) var majorRevision: Int64
    /// The items in the order of their creation.
    private(set) var entries: [Entry]

    package init(majorRevision: Int64 = 0, entries: [Entry] = []) {
        self.majorRevision = majorRevision
        self.entries = entries
    }

    var items: [MetadataItem] { entries.map(\.item) }

    /// The bytes that count against the limit of a set (L-37).
    var bytes: Int { entries.reduce(0) { $0 + $1.item.bytes } }

    /// The bytes that count against the share of its app: those of the set, and about what the rows take.
    var storedBytes: Int { bytes + entries.count * StoredMessage.rowBytes }

    /// Applies a write that has passed `WriteMetadata.check`. If it throws, nothing has changed.
    ///
    /// - Parameter now: the time in milliseconds (UTC), for items that record it.
    mutating func apply(
        _ write: WriteMetadata, by author: String, limits: Limits, now: UInt64
    ) throws(RTMError) -> Change {
        var places: [String: Int] = [:]
        places.reserveCapacity(entries.count)
        for (place, entry) in entries.enumerated() { places[entry.item.key] = place }
        try compare(write, places)
        var next = self
        next.majorRevision += 1
        let change = next.carryOut(write, by: author, places, now: now)
        try next.check(limits, after: self)
        self = next
        return change
    }

    // MARK: Comparing

    private func compare(_ write: WriteMetadata, _ places: [String: Int]) throws(RTMError) {
        // What was never written has the revision 0 (D-9). On the wire 0 means "not compared", so an expected
        // 0 is sent as -1, for the set and for items.
        let expected = max(0, write.majorRevision)
        if write.majorRevision != 0, expected != majorRevision {
            throw conflict("the set has the revision \(majorRevision), not \(expected)")
        }
        if write.kind == .remove, write.items.isEmpty, entries.isEmpty {
            throw conflict("there is nothing to remove")
        }
        for item in write.items {
            guard let place = places[item.key] else {
                guard write.kind == .set, item.revision <= 0 else {
                    throw conflict("there is no item \"\(item.key)\"", key: item.key)
                }
                continue
            }
            let present = entries[place].item.revision
            guard item.revision == 0 || item.revision == present else {
                throw conflict(
                    "\"\(item.key)\" has the revision \(present), not \(max(0, item.revision))",
                    key: item.key, revision: present)
            }
        }
    }

    private func conflict(_ reason: String, key: String? = nil, revision: Int64 = 0) -> RTMError {
        RTMError(
            .storageOutdatedRevision, reason,
            conflict: .init(majorRevision: majorRevision, key: key, revision: revision))
    }

    // MARK: Changing

    private mutating func carryOut(
        _ write: WriteMetadata, by author: String, _ places: [String: Int], now: UInt64
    ) -> Change {
        guard write.kind != .remove else { return remove(write.items.map(\.key)) }
        var change = Change()
        for item in write.items {
            let written = MetadataItem(
                key: item.key, value: item.value, revision: majorRevision,
                updatedMilliseconds: write.recordsTime ? now : 0,
                author: write.recordsAuthor ? author : "")
            if let place = places[item.key] {
                entries[place].item = written
                change.entries[item.key] = .some(entries[place])
            } else {
                let entry = Entry(place: (entries.last?.place ?? 0) + 1, item: written)
                entries.append(entry)
                change.entries[item.key] = .some(entry)
            }
        }
        return change
    }

    /// - Parameter keys: if empty, the whole set is removed (D-4).
    private mutating func remove(_ keys: [String]) -> Change {
        guard !keys.isEmpty else {
            defer { entries = [] }
            return Self.removal(of: entries.map(\.item.key))
        }
        let gone = Set(keys)
        entries.removeAll { gone.contains($0.item.key) }
        return Self.removal(of: keys)
    }

    private static func removal(of keys: [String]) -> Change {
        Change(entries: Dictionary(keys.map { ($0, nil) }) { $1 })
    }

    /// A set that has become too large because a limit was lowered may still shrink.
    private func check(_ limits: Limits, after before: Self) throws(RTMError) {
        if let itemsMax = limits.itemsMax, entries.count > itemsMax, entries.count > before.entries.count {
            throw RTMError(
                .storageMetadataItemExceedLimitation,
                "the set would have \(entries.count) items, \(itemsMax) are allowed",
                limit: .init(name: "metadata items", value: UInt64(itemsMax)))
        }
        let bytes = self.bytes
        guard bytes <= limits.bytesMax || bytes <= before.bytes else {
            throw MetadataWriteRules.setTooLarge(bytes, bytesMax: limits.bytesMax)
        }
    }
}

extension MetadataItem {
    fileprivate var bytes: Int { key.utf8.count + value.utf8.count }
}
