/// Where a channel lies: in which partition, and where there.
package struct ChannelPlace: Hashable, Sendable {
    let index: UInt32
    let partition: UInt16
}
