import RTMModel
import RTMWire

/// Messaging as an edge knows it, at the other end of one link: what it is told and what it says come in
/// order, each when the test lets it. Its logs keep everything, but can be made to have lost something.
struct FakeMessaging {
    struct Entry {
        let publisherSession: UInt64
        let feature: SubscriptionFeatures

        /// An entry of another channel, which only takes an offset. No feature selects it.
        static let ofAnotherChannel = Entry(
            publisherSession: 0, feature: SubscriptionFeatures(rawValue: 1 << 30))

        var isOfAnotherChannel: Bool { feature == Self.ofAnotherChannel.feature }

        /// Whether a session that subscribed with these features may see it (M-2, M-21, M-43).
        func isFor(_ session: UInt64, _ features: SubscriptionFeatures) -> Bool {
            guard features.contains(feature) else { return false }
            return publisherSession != session || feature == .message && features.contains(.ownMessages)
        }
    }

    struct Read {
        let channel: ChannelKey
        let after: StreamPosition
        let session: UInt64
        let features: SubscriptionFeatures
        let entriesMax: Int
    }

    struct Page {
        let offsets: [UInt64]
        let position: StreamPosition
        let gap: Bool
        let more: Bool
    }

    enum Call {
        case attach(id: Int, AttachRequest)
        case detach(DetachPush)
        case read(id: Int, Read)
    }

    enum Event {
        case skipped(SkipPush)
        case delivery(
            interest: UInt64, channel: ChannelKey, position: StreamPosition, skipped: UInt64, Entry)
        case attached(id: Int, AttachResponse)
        case page(id: Int, Page)
    }

    private struct Log {
        let epoch: UInt64
        /// What lies before can't be continued.
        var start: UInt64 = 0
        var head: UInt64 = 0
    }

    private var logs: [ChannelKey: Log] = [:]
    private var nextEpoch: UInt64 = 100
    /// Every entry that ever was, by epoch; the first has offset 1.
    private(set) var archive: [UInt64: [Entry]] = [:]
    /// By epoch: up to where entries have been lost.
    private(set) var starts: [UInt64: UInt64] = [:]
    private(set) var attached: [UInt64: ChannelKey] = [:]
    private(set) var calls: [Call] = []
    private(set) var events: [Event] = []

    // MARK: What the test does

    mutating func call(_ call: Call) { calls.append(call) }

    mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// Works on the oldest call.
    mutating func perform() {
        guard !calls.isEmpty else { return }
        switch calls.removeFirst() {
        case .attach(let id, let request): attach(id, request)
        case .detach(let push): attached[push.interest] = nil
        case .read(let id, let read): events.append(.page(id: id, page(read)))
        }
    }

    /// - Parameter others: so many entries of other channels come before.
    mutating func publish(_ entry: Entry, to key: ChannelKey, behind others: Int = 0) {
        var log = log(of: key)
        log.head += UInt64(others) + 1
        logs[key] = log
        archive[log.epoch, default: []] += Array(repeating: .ofAnotherChannel, count: others) + [entry]
        for interest in attached.keys.sorted() where attached[interest] == key {
            events.append(
                .delivery(
                    interest: interest, channel: key,
                    position: StreamPosition(epoch: log.epoch, offset: log.head),
                    skipped: UInt64(others), entry))
        }
    }

    /// The link breaks: what was on its way is lost, and so are the attachments.
    mutating func loseLink() {
        calls = []
        events = []
        attached = [:]
    }

    /// The process began anew: other logs. To be preceded by the loss of its link.
    mutating func restart() { logs = [:] }

    /// Nothing that is in the log now can be had again.
    mutating func trim(_ key: ChannelKey) {
        var log = log(of: key)
        log.start = log.head
        starts[log.epoch] = log.start
        logs[key] = log
    }

    mutating func head(of key: ChannelKey) -> StreamPosition {
        let log = log(of: key)
        return StreamPosition(epoch: log.epoch, offset: log.head)
    }

    // MARK: -

    private mutating func attach(_ id: Int, _ request: AttachRequest) {
        attached[request.interest] = nil
        let head = head(of: request.channel)
        if var after = request.after {
            let lost = lost(after, request.channel).filter { !$0.isOfAnotherChannel }
                .reduce(into: SubscriptionFeatures()) { $0.formUnion($1.feature) }
            if after.epoch != head.epoch || !lost.isEmpty {
                after = StreamPosition(epoch: head.epoch, offset: log(of: request.channel).start)
                events.append(
                    .skipped(SkipPush(interest: request.interest, position: after, features: lost)))
            }
            var skipped: UInt64 = 0
            for offset in after.offset..<head.offset {
                guard let entry = archive[head.epoch]?[Int(offset)] else { continue }
                guard !entry.isOfAnotherChannel else {
                    skipped += 1
                    continue
                }
                events.append(
                    .delivery(
                        interest: request.interest, channel: request.channel,
                        position: StreamPosition(epoch: head.epoch, offset: offset + 1), skipped: skipped,
                        entry))
                skipped = 0
            }
        }
        attached[request.interest] = request.channel
        events.append(.attached(id: id, AttachResponse(position: head)))
    }

    private mutating func page(_ read: Read) -> Page {
        let head = head(of: read.channel)
        guard read.after.epoch == head.epoch else {
            let start = StreamPosition(epoch: head.epoch, offset: log(of: read.channel).start)
            return Page(offsets: [], position: start, gap: true, more: start != head)
        }
        let isSelected = { (entry: Entry) in
            !entry.isOfAnotherChannel && entry.isFor(read.session, read.features)
        }
        if lost(read.after, read.channel).contains(where: isSelected) {
            return Page(offsets: [], position: head, gap: true, more: false)
        }
        var offsets: [UInt64] = []
        for (index, entry) in (archive[head.epoch] ?? []).enumerated().dropFirst(Int(read.after.offset))
        where isSelected(entry) {
            if offsets.count == read.entriesMax {
                let position = StreamPosition(epoch: head.epoch, offset: offsets.last ?? 0)
                return Page(offsets: offsets, position: position, gap: false, more: true)
            }
            offsets.append(UInt64(index) + 1)
        }
        return Page(offsets: offsets, position: head, gap: false, more: false)
    }

    /// The entries behind a position of this log that can't be had any more.
    private mutating func lost(_ position: StreamPosition, _ key: ChannelKey) -> [Entry] {
        let log = log(of: key)
        guard position.epoch == log.epoch, position.offset < log.start else { return [] }
        return Array((archive[log.epoch] ?? [])[Int(position.offset)..<Int(log.start)])
    }

    private mutating func log(of key: ChannelKey) -> Log {
        if let log = logs[key] { return log }
        let log = Log(epoch: nextEpoch)
        nextEpoch += 1
        logs[key] = log
        return log
    }
}
