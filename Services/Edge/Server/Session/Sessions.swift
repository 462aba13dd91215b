import NIOCore
import RTMModel
import RTMServiceKit

/// A session as the cores of a loop know it: its id, and the slot in which the loop keeps it.
///
/// A slot is an index in an array, so a delivery finds its connection without a lookup in a table. A slot is
/// used again after its session has ended; the ids of the two sessions differ.
struct SessionKey: Sendable, Hashable {
    let id: SessionID
    let slot: UInt32
}

/// The sessions of one loop, by their keys.
final class Sessions {
    private var slots = ContiguousArray<Session?>()
    private var free: [UInt32] = []
    /// The connections of the sessions, by slot. A delivery looks here, not at the session.
    private(set) var connections = SessionConnections()

    var count: Int { slots.count - free.count }
    var isEmpty: Bool { count == 0 }

    var all: some Sequence<Session> { slots.lazy.compactMap(\.self) }

    /// How many slots there are, with those that are free.
    var slotCount: Int { slots.count }

    /// The session in the slot; nil if the slot is free.
    subscript(slot slot: Int) -> Session? { slots[slot] }

    /// Returns nil if that session has ended.
    subscript(key: SessionKey) -> Session? {
        guard key.slot < slots.count, let session = slots[Int(key.slot)], session.key == key else {
            return nil
        }
        return session
    }

    /// Adds the session that is made for the key.
    func add(_ id: SessionID, _ make: (SessionKey) -> Session) -> Session {
        let slot = free.popLast() ?? UInt32(slots.count)
        if slot == slots.count { slots.appendSparingly(nil) }
        let session = make(SessionKey(id: id, slot: slot))
        slots[Int(slot)] = session
        connections[slot] = session.connection
        return session
    }

    /// Returns whether the session was among them.
    func remove(_ key: SessionKey) -> Bool {
        guard self[key] != nil else { return false }
        slots[Int(key.slot)] = nil
        connections[key.slot] = nil
        free.append(key.slot)
        return true
    }
}
