import RTMModel

/// Subscribes of the app that the server refused for the moment, and that wait to be sent again.
struct RefusedSubscribes {
    private var requests: [UInt64: (channel: String, refusal: RTMError)] = [:]

    /// - Parameter refusal: what the app learns if the time of its call is over first.
    mutating func add(_ id: UInt64, of channel: String, _ refusal: RTMError) {
        requests[id] = (channel, refusal)
    }

    /// Nobody waits for the subscribe any more.
    ///
    /// - Returns: what the server refused it with, if it is here.
    @discardableResult
    mutating func remove(_ id: UInt64) -> RTMError? { requests.removeValue(forKey: id)?.refusal }

    /// A channel has one subscribe at a time (M-8).
    @discardableResult
    mutating func remove(of channel: String) -> UInt64? {
        guard let id = requests.first(where: { $0.value.channel == channel })?.key else { return nil }
        requests[id] = nil
        return id
    }

    /// Those that are to be sent now, in the order of the app.
    mutating func takeAll() -> [UInt64] {
        defer { requests = [:] }
        return requests.keys.sorted()
    }
}
