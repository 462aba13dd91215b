import DequeModule
import RTMClient

/// What waits for the app's queue, in one order: completion blocks, and events for the delegates. Pure.
///
/// Events have a limit, because delegates may be slower than the events come. Beyond it the oldest events are
/// dropped, and the loss is reported in their place. Blocks are never dropped, because every call ends
/// (S-0a).
struct CallbackBuffer {
    typealias Block = @Sendable () -> Void

    enum Next {
        case block(Block)
        case event(RTMEvent)
        /// These events were dropped here.
        case loss(DroppedEvents)
    }

    private var blocks: Deque<(number: UInt64, block: Block)> = []
    private var events: Deque<(number: UInt64, event: RTMEvent)> = []
    private var payloadBytes = 0
    private var lastNumber: UInt64 = 0
    /// Events that came before the first one in `events`.
    private var dropped = DroppedEvents()
    private let eventsMax: Int
    private let payloadBytesMax: Int

    init(
        eventsMax: Int = EventBuffering.defaultCapacity, payloadBytesMax: Int = EventBuffering.payloadBytesMax
    ) {
        self.eventsMax = eventsMax
        self.payloadBytesMax = payloadBytesMax
    }

    mutating func append(_ block: @escaping Block) {
        lastNumber += 1
        blocks.append((lastNumber, block))
    }

    mutating func append(_ event: RTMEvent) {
        lastNumber += 1
        events.append((lastNumber, event))
        payloadBytes += event.payloadBytes
        while events.count > eventsMax || payloadBytes > payloadBytesMax, events.count > 1 {
            let event = events.removeFirst().event
            payloadBytes -= event.payloadBytes
            dropped.add(event)
        }
    }

    /// Takes what comes next.
    mutating func next() -> Next? {
        if let block = blocks.first, events.first.map({ block.number < $0.number }) ?? true {
            blocks.removeFirst()
            return .block(block.block)
        }
        guard !events.isEmpty else { return nil }
        if dropped.count > 0 {
            defer { dropped = DroppedEvents() }
            return .loss(dropped)
        }
        let event = events.removeFirst().event
        payloadBytes -= event.payloadBytes
        return .event(event)
    }
}

/// Events that a client dropped because the app's callbacks were too slow.
struct DroppedEvents: Sendable, Hashable {
    /// Limit: channels that are named. A client subscribes to far fewer.
    static let channelsMax = 1000

    private(set) var count = 0
    /// The message channels that the events were about.
    private(set) var channels: Set<String> = []

    mutating func add(_ event: RTMEvent) {
        count += 1
        guard let channel = event.messageChannel, channels.count < Self.channelsMax else { return }
        channels.insert(channel)
    }
}

extension RTMEvent {
    /// The message channel that the event is about, if it is about one.
    fileprivate var messageChannel: String? {
        switch self {
        case .message(let event): event.channelType == .message ? event.channelName : nil
        case .presence(let event): event.channelType == .message ? event.channelName : nil
        case .lock(let event): event.channelType == .message ? event.channelName : nil
        case .gap(let event): event.channelType == .message ? event.channelName : nil
        case .metadata(let event): if case .channel(let name, .message) = event.target { name } else { nil }
        case .linkState, .tokenWillExpire, .topic, .streamChannelEnded, .outbox, .undecryptable, .overflow:
            nil
        }
    }
}
