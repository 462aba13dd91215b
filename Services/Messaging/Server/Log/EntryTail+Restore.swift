import NIOCore
import RTMModel
import RTMWire

extension JournaledEntries {
    var origin: EntryOrigin { EntryOrigin(user: user, client: client, sequence: sequence) }
}

extension EntryTail {
    /// Puts entries of a journal where they were when they were appended, behind all that is here. The caller
    /// has seen that their frames are as many as it says, and that the channel doesn't have them.
    mutating func restore(
        _ entries: JournaledEntries, _ frames: [UnsafeRawBufferPointer], at channel: ChannelPlace,
        to chain: inout ChannelChain
    ) {
        if isFull { close(isFull: true) }
        open.noteAppend(at: entries.timestamp)
        for (index, bytes) in frames.enumerated() {
            let number = UInt64(index)
            let frame = open.write { _ = $0.writeBytes(bytes) }
            let place = nextPlace
            open.append(
                EntryRecord(
                    timestamp: entries.timestamp + number, publisherSession: entries.publisherSession,
                    offset: entries.offset + number, previous: chain.newest, channel: channel,
                    feature: entries.feature, entries.origin.following(by: number), frame))
            chain.appended(
                entries.offset + number, entries.timestamp + number, entries.feature, at: place)
        }
    }
}
