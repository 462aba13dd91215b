import RTMModel
import RTMStorageServer
import RTMWire

/// Which messages the owner of a shard knows to be new, without a search through all partitions. Pure.
///
/// A message may come once more, at a later time: that of its origin is its sequence, which grows with
/// each message of one publisher in a channel.
struct HistoryMarks {
    private struct Channel {
        /// No stored message is newer; 0 if there is none.
        var newest: UInt64
        /// Whether there was none when this began, so that all publishers are known.
        var isWhole: Bool
        /// By publisher's instance: no stored message of it has a greater sequence.
        var sequences: [UInt64: UInt64] = [:]
    }

    private var channels: [ChannelKey: Channel] = [:]
    /// How many numbers are kept.
    private(set) var count = 0

    /// Whether the database may have the message, or another one of its time.
    func mayBeKept(_ message: StoredMessage) -> Bool {
        guard let channel = channels[message.channel],
            message.content.time.number > channel.newest
        else { return true }
        guard let origin = message.origin else { return false }
        guard let mark = channel.sequences[origin.instance] else { return !channel.isWhole }
        return origin.sequence <= mark
    }

    /// The database has been asked for the newest message of a channel.
    mutating func found(newest: UInt64, of channel: ChannelKey) {
        guard channels[channel] == nil else {
            channels[channel]?.newest = newest
            return
        }
        channels[channel] = Channel(newest: newest, isWhole: newest == 0)
        count += 1
    }

    /// The database has been asked for the last message of a publisher in a channel that was asked for
    /// its newest one.
    mutating func found(sequence: UInt64, of instance: UInt64, in channel: ChannelKey) {
        guard let known = channels[channel]?.sequences[instance] else {
            guard channels[channel] != nil else { return }
            channels[channel]?.sequences[instance] = sequence
            count += 1
            return
        }
        channels[channel]?.sequences[instance] = max(known, sequence)
    }

    /// Messages have been kept, each of which is new or was looked for.
    mutating func kept(_ messages: [StoredMessage]) {
        for message in messages {
            guard let newest = channels[message.channel]?.newest else { continue }
            channels[message.channel]?.newest = max(newest, message.content.time.number)
            if let origin = message.origin {
                found(sequence: origin.sequence, of: origin.instance, in: message.channel)
            }
        }
    }

    mutating func forget(_ channel: ChannelKey) {
        guard let known = channels.removeValue(forKey: channel) else { return }
        count -= 1 + known.sequences.count
    }
}
