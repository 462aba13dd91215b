import NIOCore
import RTMModel
import RTMServiceKit

/// The sessions of one loop, by their keys.
final class Sessions {
    private var slots = ContiguousArray<Session?>()
    private var free: [UInt32] = []
    /// The connections of the sessions, by slot. A delivery looks here, not at the session.
    private(set) var connections = SessionConnections()

    var count: Int { slots.count - free.count }
    var isEmpty: Bool { count == 0 }

    var all: some Sequence<Session> { slots.lazy.compactMap(\.self) }

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

/// Connections by the slot of their session.
struct SessionConnections {
    private var slots = ContiguousArray<(any SessionConnection)?>()

    subscript(slot: UInt32) -> (any SessionConnection)? {
        get { slot < slots.count ? slots[Int(slot)] : nil }
        set {
            while slots.count <= slot { slots.appendSparingly(nil) }
            slots[Int(slot)] = newValue
        }
    }

    /// Gives a batch to all of its subscribers. A session may end meanwhile, which changes the loop's table
    /// and not this copy of it.
    ///
    /// - Returns: how many entries they got in all.
    func send(_ batch: DeliveryBatch, to subscribers: ContiguousArray<Subscriber>) -> Int {
        if let topic = batch.topic { return send(batch, of: topic, to: subscribers) }
        var deliveries = 0
        for subscriber in subscribers {
            if batch.isWhole(for: subscriber) {
                self[subscriber.session.slot]?.send(batch.frames)
                deliveries += batch.count
            } else {
                deliveries += sendSelection(of: batch, to: subscriber)
            }
        }
        return deliveries
    }

    private func sendSelection(of batch: DeliveryBatch, to subscriber: Subscriber) -> Int {
        let parts = batch.selection(for: subscriber)
        guard !parts.isEmpty else { return 0 }
        self[subscriber.session.slot]?.write { batch.write(parts, to: &$0) }
        return parts.reduce(0) { $0 + $1.count }
    }

    /// The same for a topic, whose entries may have to wait (C-14).
    private func send(
        _ batch: DeliveryBatch, of topic: TopicRank, to subscribers: ContiguousArray<Subscriber>
    ) -> Int {
        var deliveries = 0
        for subscriber in subscribers {
            if batch.isWhole(for: subscriber) {
                self[subscriber.session.slot]?.send(batch.frames, of: topic)
                deliveries += batch.count
            } else {
                let parts = batch.selection(for: subscriber)
                guard !parts.isEmpty else { continue }
                self[subscriber.session.slot]?.write(of: topic) { batch.write(parts, to: &$0) }
                deliveries += parts.reduce(0) { $0 + $1.count }
            }
        }
        return deliveries
    }
}
