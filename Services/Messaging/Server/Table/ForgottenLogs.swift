/// The logs of one app that were forgotten with entries in their past: when one of their channels is used
/// again, its log goes on where it stood, and a position in it means what it meant.
///
/// Half of the room is for those that were forgotten last. When it is full, the other half is dropped. Logs
/// that begin from then on need another epoch, because one of the dropped ones may have been theirs.
///
/// Pure. Channels are known by their numbers (`NameHash`).
struct ForgottenLogs {
    private let halfMax: Int
    private var young: [UInt64: ChannelLog.Remains] = [:]
    private var old: [UInt64: ChannelLog.Remains] = [:]
    /// The timestamp of the newest entry of all logs that were dropped; nil if none was.
    private(set) var newestDropped: UInt64?

    init(countMax: Int) { halfMax = max(1, countMax / 2) }

    var count: Int { young.count + old.count }

    subscript(channel: UInt64) -> ChannelLog.Remains? { young[channel] ?? old[channel] }

    /// - Returns: whether others were dropped.
    mutating func insert(_ remains: ChannelLog.Remains, of channel: UInt64) -> Bool {
        young[channel] = remains
        guard young.count >= halfMax else { return false }
        let dropped = old.values.lazy.map(\.lastTimestamp).max()
        newestDropped = [newestDropped, dropped].compactMap { $0 }.max()
        (young, old) = ([:], young)
        return dropped != nil
    }

    mutating func take(_ channel: UInt64) -> ChannelLog.Remains? {
        young.removeValue(forKey: channel) ?? old.removeValue(forKey: channel)
    }
}
