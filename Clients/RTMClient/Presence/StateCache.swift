// Keeps the temporary states that this user has set, as the app believes them to be (P-41, P-42, S-19).
//
// Before the channel is subscribed the states wait here, and are set then. Afterwards the server has them,
// and the cache keeps what the server has acknowledged. Should the server lose it, for example after a
// timeout that the client didn't notice, the client sets it again. Unsubscribing and logging out forget the
// states.

import RTMModel

struct StateCache: Sendable {
    private let size: ContentSize
    private var channels: [ChannelID: [String: String]] = [:]

    /// - Parameter size: how much of the server's limits is left to the app.
    init(_ size: ContentSize = ContentSize()) { self.size = size }

    /// `nil` if nothing was set.
    func states(in channel: ChannelID) -> [String: String]? { channels[channel] }

    /// Sets states of a channel that isn't subscribed yet.
    ///
    /// - Parameter subscribed: the channels whose states the server has. Only the others count as waiting.
    /// - Throws: `.presenceStateCountOverflow` (-13005) if the channel would have too many states (L-31),
    ///   `.presenceCacheTooManyStates` (-13004) if too many would wait in all (L-32),
    ///   `.presenceStateKeySizeOverflow` (-13008) or `.presenceStateValueSizeOverflow` (-13009) if a key or
    ///   value is too long. Then nothing is set.
    mutating func hold(
        _ items: [String: String], in channel: ChannelID, subscribed: Set<ChannelID>
    ) throws(RTMError) {
        for (key, value) in items { try check(key: key, value: value) }
        let merged = channels[channel, default: [:]].merging(items) { $1 }
        guard merged.count <= Limits.presenceStatesMax else {
            throw RTMError(
                .presenceStateCountOverflow,
                "the user would have \(merged.count) states, \(Limits.presenceStatesMax) are allowed",
                limit: .init(name: "states", value: UInt64(Limits.presenceStatesMax)))
        }
        let others = channels.lazy.filter { $0.key != channel && !subscribed.contains($0.key) }
        let waiting = others.reduce(merged.count) { $0 + $1.value.count }
        guard waiting <= Limits.cachedPresenceStatesMax else {
            throw RTMError(
                .presenceCacheTooManyStates,
                "\(waiting) states would wait for their channels to be subscribed, "
                    + "\(Limits.cachedPresenceStatesMax) are allowed",
                limit: .init(name: "waiting states", value: UInt64(Limits.cachedPresenceStatesMax)))
        }
        channels[channel] = merged
    }

    /// The server has taken these.
    mutating func set(_ items: [String: String], in channel: ChannelID) {
        channels[channel, default: [:]].merge(items) { $1 }
    }

    /// - Parameter keys: no key means all of them (P-44).
    mutating func remove(_ keys: [String], in channel: ChannelID) {
        for key in keys { channels[channel]?.removeValue(forKey: key) }
        if keys.isEmpty || channels[channel]?.isEmpty == true { channels[channel] = nil }
    }

    /// The states that have to be set, perhaps again.
    ///
    /// - Parameter shown: what others see of this user, or `nil` if it isn't listed.
    func missing(from shown: [String: String]?, in channel: ChannelID) -> [String: String] {
        channels[channel, default: [:]].filter { shown?[$0.key] != $0.value }
    }

    /// The states that others see although the app hasn't set them, for example because it logged out
    /// without a connection.
    func forgotten(in shown: [String: String]?, in channel: ChannelID) -> [String] {
        (shown ?? [:]).keys.filter { channels[channel]?[$0] == nil }.sorted()
    }

    mutating func forget(_ channel: ChannelID) { channels[channel] = nil }

    mutating func removeAll() { channels = [:] }

    /// Checks the sizes (L-14). A server may be configured otherwise, so that this is only for states that it
    /// hasn't seen.
    private func check(key: String, value: String) throws(RTMError) {
        guard key.utf8.count <= Limits.presenceStateKeyBytesMax else {
            throw RTMError(
                .presenceStateKeySizeOverflow,
                "a state key has \(key.utf8.count) bytes, \(Limits.presenceStateKeyBytesMax) are allowed",
                limit: .init(name: "state key bytes", value: UInt64(Limits.presenceStateKeyBytesMax)))
        }
        let valueBytesMax = size.textMax(within: Limits.presenceStateValueBytesMax)
        guard value.utf8.count <= valueBytesMax else {
            throw RTMError(
                .presenceStateValueSizeOverflow,
                "a state value has \(value.utf8.count) bytes, \(valueBytesMax) are allowed\(size.remark)",
                limit: .init(name: "state value bytes", value: UInt64(valueBytesMax)))
        }
    }
}
