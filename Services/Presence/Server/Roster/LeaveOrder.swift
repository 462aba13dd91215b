import RTMModel

/// The channels that a session leaves when it ends, in the order in which others learn of it: its topics are
/// over before it has left their channels (C-4). Pure.
struct LeaveOrder {
    let topics: [ChannelKey]
    let channels: [ChannelKey]

    init(_ left: some Sequence<ChannelKey>) {
        topics = left.filter { $0.type == .topics }
        channels = left.filter { $0.type != .topics }
    }
}
