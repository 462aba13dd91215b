import RTMModel
import RTMServiceKit
import RTMWire

/// A share of the channels, and the log in which the entries of all of them are counted.
///
/// Every entry gets the next offset of its partition, and a channel is a filter over the partition. So a
/// position means something for every channel, whether anything is remembered of it or not. And a table has
/// to be moved only for the channels of one partition when it grows.
///
/// Pure.
struct Partition {
    let epoch: UInt64
    /// Offset of the newest entry; 0 before the first.
    var head: UInt64 = 0
    private var slots = ChannelSlots()
    /// The channels by their slots. What changes one of them reaches for it here: an accessor between would
    /// take memory for each access.
    var channels = ContiguousArray<BrokerChannel>()
    /// Slots that can be used again. A slot that is beyond the end, or in use, doesn't count.
    private var free: [UInt32] = []

    init(epoch: UInt64) { self.epoch = epoch }

    var position: StreamPosition { StreamPosition(epoch: epoch, offset: head) }

    /// - Parameter number: the number of the channel.
    func slot(of channel: ChannelView, _ number: UInt64) -> UInt32? {
        slots.slot(of: number) { channels[Int($0)].key?.isSame(as: channel) ?? false }
    }

    mutating func insert(_ channel: BrokerChannel, _ number: UInt64) -> UInt32 {
        let slot = freeSlot() ?? UInt32(channels.count)
        if slot < channels.count {
            channels[Int(slot)] = channel
        } else {
            channels.appendSparingly(channel)
        }
        slots.insert(slot, number)
        return slot
    }

    private mutating func freeSlot() -> UInt32? {
        while let slot = free.popLast() {
            if slot < channels.count, channels[Int(slot)].key == nil { return slot }
        }
        return nil
    }

    /// - Parameter number: gives the number of a channel.
    mutating func remove(_ slot: UInt32, number: (ChannelKey) -> UInt64) {
        guard let key = channels[Int(slot)].key else { return }
        for other in slots.remove(slot, number(key)) {
            slots.insert(other, channels[Int(other)].key.map(number) ?? 0)
        }
        channels[Int(slot)] = BrokerChannel(nil, of: 0, ChannelChain(head: 0, forgotten: nil, now: 0))
        free.append(slot)
    }

    /// Gives back the memory of slots that are free at the end, and of tables that are nearly empty.
    mutating func shrink() {
        while let last = channels.last, last.key == nil { channels.removeLast() }
        guard channels.capacity > Self.capacityMin, channels.count < channels.capacity / 4 else { return }
        var rest = ContiguousArray<BrokerChannel>()
        rest.reserveCapacity(channels.count)
        rest.append(contentsOf: channels)
        channels = rest
        free = free.filter { $0 < channels.count }
        slots.shrink()
    }

    /// A table with room for this many channels isn't worth shrinking.
    private static let capacityMin = 64
}
