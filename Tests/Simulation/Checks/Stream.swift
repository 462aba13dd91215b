import RTMModel

@testable import RTMTestKit

/// What one app saw of one channel, or of its inbox, from the beginning of a subscription to its end.
struct Stream {
    enum Item {
        case message(Message)
        case gap(after: StreamPosition?, until: StreamPosition)
    }

    let device: DeviceID
    let place: Place
    let begunAt: Duration
    /// When the app asked for it, which may be long before if the app was frozen meanwhile.
    let askedAt: Duration
    /// What follows this is delivered; nil where the app isn't told.
    let begin: StreamPosition?
    private(set) var items: [(time: Duration, item: Item)] = []
    /// Nil while it continues.
    var endedAt: Duration?

    init(
        _ device: DeviceID, _ place: Place, begunAt: Duration, askedAt: Duration? = nil,
        begin: StreamPosition?
    ) {
        self.device = device
        self.place = place
        self.begunAt = begunAt
        self.askedAt = askedAt ?? begunAt
        self.begin = begin
    }

    mutating func add(_ item: Item, at time: Duration) { items.append((time, item)) }

    var texts: Set<String> {
        Set(
            items.compactMap { _, item in
                if case .message(let message) = item { message.text } else { nil }
            })
    }

    var gaps: [Duration] {
        items.compactMap { time, item in
            if case .gap = item { time } else { nil }
        }
    }

    /// Whether a message may be missing because the app was informed of a hole where it lies: between two
    /// messages that it has, or before the position behind which its channel's log continues. A hole that
    /// leads into another log covers what lay in the log before, and nothing that the new log still had.
    ///
    /// - Parameters:
    ///   - logBegan: when the log began that an app was informed of at a time.
    ///   - isKept: whether logs still had at a time what was published at another one.
    func isCovered(
        _ stamp: (offset: UInt64, timestamp: UInt64), publishedAt: Duration,
        logBegan: (Duration) -> UInt64, isKept: (_ timestamp: UInt64, _ time: Duration) -> Bool
    ) -> Bool {
        var before: UInt64 = 0
        for (index, (time, item)) in items.enumerated() {
            switch item {
            case .message(let message):
                before = message.timestamp
            case .gap(let seen, let position):
                guard time >= publishedAt else { continue }
                let isNewLog = seen.map { $0.epoch != position.epoch } ?? false
                let began = logBegan(time)
                if isNewLog, stamp.timestamp > began, isKept(stamp.timestamp, time) { continue }
                if stamp.offset <= position.offset, stamp.timestamp >= began { return true }
                let after = items[(index + 1)...].lazy.compactMap { _, item -> UInt64? in
                    if case .message(let message) = item { message.timestamp } else { nil }
                }.first
                if stamp.timestamp > before, stamp.timestamp < after ?? .max { return true }
            }
        }
        return false
    }

    /// Offsets that are passed over, with the timestamps between which they lie.
    struct Hole {
        let time: Duration
        let offsets: ClosedRange<UInt64>
        let after: UInt64
        let before: UInt64
    }

    /// - Parameter logBegan: when the log began that there was at a time: what lies before belongs to another
    ///   log, where an offset means something else. An app may be told of a log when that is gone already, so
    ///   it is the time of the message behind the hole that counts.
    func holes(logBegan: (Duration) -> UInt64) -> [Hole] {
        var holes: [Hole] = []
        var last = begin.map { (offset: $0.offset, timestamp: 0 as UInt64) }
        for (time, item) in items {
            switch item {
            case .message(let message):
                if let last, message.offset > last.offset + 1 {
                    holes.append(
                        Hole(
                            time: time, offsets: last.offset + 1...message.offset - 1,
                            after: max(last.timestamp, logBegan(VirtualWorld.time(of: message.timestamp))),
                            before: message.timestamp))
                }
                last = (message.offset, message.timestamp)
            case .gap(_, let position):
                last = (position.offset, last?.timestamp ?? 0)
            }
        }
        return holes
    }
}
