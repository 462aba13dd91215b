import NIOCore
import RTMServiceKit

/// A batch, and who gets it. The loop sends it to their connections.
struct FanOut {
    let channelIndex: Int
    let batch: DeliveryBatch
    let subscribers: ShortList<Subscriber>
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
    func send(_ batch: DeliveryBatch, to subscribers: ShortList<Subscriber>) -> Int {
        if let topic = batch.topic { return send(batch, of: topic, to: subscribers) }
        var deliveries = 0
        subscribers.each { subscriber in
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
        let slices = batch.selection(for: subscriber)
        guard !slices.isEmpty else { return 0 }
        self[subscriber.session.slot]?.write { batch.write(slices, to: &$0) }
        return slices.reduce(0) { $0 + $1.count }
    }

    /// The same for a topic, whose entries may have to wait (C-14).
    private func send(
        _ batch: DeliveryBatch, of topic: TopicRank, to subscribers: ShortList<Subscriber>
    ) -> Int {
        var deliveries = 0
        for subscriber in subscribers {
            if batch.isWhole(for: subscriber) {
                self[subscriber.session.slot]?.send(batch.frames, of: topic)
                deliveries += batch.count
            } else {
                let slices = batch.selection(for: subscriber)
                guard !slices.isEmpty else { continue }
                self[subscriber.session.slot]?.write(of: topic) { batch.write(slices, to: &$0) }
                deliveries += slices.reduce(0) { $0 + $1.count }
            }
        }
        return deliveries
    }
}
