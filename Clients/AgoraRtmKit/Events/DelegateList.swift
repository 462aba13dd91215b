import NIOConcurrencyHelpers

/// The delegates that get a client's events; all are held weakly.
///
/// No strong reference to a delegate is made or dropped under the lock: it could be the last one, and then
/// the app's `deinit` would run there, which may well call `remove`.
final class DelegateList: Sendable {
    // Safety: the kit never looks into a delegate. It only calls it, one call at a time, on the queue that
    // the protocol documents. The app's class must allow that, whether it is Sendable or not.
    private struct Entry: @unchecked Sendable {
        /// Distinguishes this entry from an earlier delegate at the same address.
        var number: UInt64
        let id: ObjectIdentifier
        weak var delegate: (any AgoraRtmClientDelegate)?
    }

    private struct Contents {
        var entries: [Entry] = []
        var lastNumber: UInt64 = 0
    }

    private let contents = NIOLockedValueBox(Contents())

    /// Adds a delegate. If it is in the list already, it only moves to the end.
    func add(_ delegate: any AgoraRtmClientDelegate) {
        let id = ObjectIdentifier(delegate)
        var entry = Entry(number: 0, id: id, delegate: delegate)
        contents.withLockedValue { contents in
            contents.lastNumber += 1
            entry.number = contents.lastNumber
            contents.entries.removeAll { $0.id == id }
            contents.entries.append(entry)
        }
    }

    func remove(_ delegate: any AgoraRtmClientDelegate) {
        let id = ObjectIdentifier(delegate)
        contents.withLockedValue { $0.entries.removeAll { $0.id == id } }
    }

    func removeAll() {
        contents.withLockedValue { $0.entries.removeAll() }
    }

    /// Calls the delegates in the order in which they were added. A delegate that is removed meanwhile isn't
    /// called any more (N-8).
    func notify(_ body: (any AgoraRtmClientDelegate) -> Void) {
        for entry in contents.withLockedValue({ $0.entries }) {
            if let delegate = entry.delegate {
                if contains(entry.number) { body(delegate) }
            } else {
                contents.withLockedValue { $0.entries.removeAll { $0.number == entry.number } }
            }
        }
    }

    private func contains(_ number: UInt64) -> Bool {
        contents.withLockedValue { $0.entries.contains { $0.number == number } }
    }
}
