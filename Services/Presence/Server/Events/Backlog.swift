import RTMModel

/// How much may wait for messaging before presence takes no more joins and changes of states. Without a bound
/// in bytes a thousand events of one channel could be 32 MiB.
struct Backlog: Sendable {
    /// Limit: waiting events of one channel.
    var eventsMax = 1_024
    /// Limit: bytes of the waiting events of one channel. An interval has fewer.
    var bytesMax = 4 << 20
    /// Limit: bytes of the waiting events of all channels.
    var allBytesMax = 64 << 20

    func check(events: Int, bytes: Int) throws(RTMError) {
        if events >= eventsMax {
            throw Self.isFull("too many events of the channel wait", "waiting presence events", eventsMax)
        }
        if bytes >= bytesMax {
            throw Self.isFull(
                "too many bytes of events of the channel wait", "waiting presence bytes", bytesMax)
        }
    }

    func check(allBytes: Int) throws(RTMError) {
        guard allBytes >= allBytesMax else { return }
        throw Self.isFull(
            "too many bytes of events of all channels wait", "waiting presence bytes of all channels",
            allBytesMax)
    }

    private static func isFull(_ what: String, _ name: String, _ value: Int) -> RTMError {
        RTMError(
            .presenceOperationFailed, "\(what) for messaging", retryAfter: .seconds(1),
            limit: .init(name: name, value: UInt64(value)))
    }
}
