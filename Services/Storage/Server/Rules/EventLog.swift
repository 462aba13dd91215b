package import RTMModel
package import RTMWire

/// What a store knows of the kept events of an app, and how it makes pages of them. Pure.
package struct EventLog {
    /// The offset of the newest event, and of the newest one that was removed.
    var newest: UInt64 = 0
    var removed: UInt64 = 0
    package var epochs = EventEpochs()

    package init(newest: UInt64 = 0, removed: UInt64 = 0, epochs: EventEpochs = EventEpochs()) {
        (self.newest, self.removed, self.epochs) = (newest, removed, epochs)
    }

    /// The position of the newest event, and the one before the oldest.
    package var bounds: (newest: StreamPosition, oldest: StreamPosition) {
        (epochs.position(newest), epochs.position(removed))
    }

    /// Begins the page that a request asks for. Whoever continues from a place that is lost gets the gap
    /// first.
    package func page(_ request: EventsRequest) -> EventPage {
        guard !request.fromNewest, newest > 0 || !epochs.beginnings.isEmpty else {
            return EventPage(EventsResponse(next: epochs.position(newest)), request, epochs, isWhole: true)
        }
        var response = EventsResponse(next: request.after)
        if request.after.epoch == 0 {
            response.next = epochs.position(removed)
        } else if let reason = loss(after: request.after) {
            response.next = epochs.position(removed)
            response.events.append(
                AppEvent(
                    position: response.next, type: .gap, keyType: .none,
                    body: EventGap(reason: reason).serialized))
        }
        return EventPage(response, request, epochs, isWhole: false)
    }

    /// Why a position can't be continued; nil if it can.
    private func loss(after position: StreamPosition) -> String? {
        // Before the first event it doesn't matter in which epoch the position was made: the next epoch takes
        // the place of one in which nothing was kept.
        if position.offset == 0, removed == 0 { return nil }
        guard position.offset <= newest, epochs.epoch(of: position.offset) == position.epoch else {
            return "the position is of another database: storage was restored from a backup, or began anew"
        }
        return position.offset < removed ? "events after the position are no longer kept" : nil
    }
}

/// A page of events while it is made of what a store has, in the order of the offsets. Pure.
package struct EventPage {
    /// Limit: events that are looked at for one page, with those that weren't asked for.
    private static let scanMax = 5_000
    /// Limit: bytes of the events of a page, unless one alone has more.
    static let bytesMax = 2 * 1024 * 1024

    /// Limit: bytes of one message or event with all that is around it.
    static let itemBytesMax = 34_000

    package private(set) var response: EventsResponse
    /// The offset of the last event that was looked at.
    package private(set) var last: UInt64
    private let request: EventsRequest
    private let epochs: EventEpochs
    private let isWhole: Bool
    private var scanned = 0
    private var bytes = 0

    fileprivate init(
        _ response: EventsResponse, _ request: EventsRequest, _ epochs: EventEpochs, isWhole: Bool
    ) {
        self.response = response
        self.request = request
        self.epochs = epochs
        self.isWhole = isWhole
        last = response.next.offset
    }

    /// Whether the store should look for more events.
    package var wantsMore: Bool { !isWhole && !response.hasMore }

    /// Takes the next event; nil for one that this version doesn't know. Returns false if the page is full
    /// and needs no more.
    package mutating func take(_ event: AppEvent?, at offset: UInt64, limit: Int) -> Bool {
        guard scanned < Self.scanMax, response.events.count < limit, bytes < Self.bytesMax else {
            response.hasMore = true
            return false
        }
        scanned += 1
        last = offset
        response.next = epochs.position(offset)
        if let event, request.selects(event) {
            bytes += event.body.count
            response.events.append(event)
        }
        return true
    }
}

/// Which epoch the offsets of an app belong to.
package struct EventEpochs {
    /// In ascending order. An epoch has the offsets behind its beginning.
    package var beginnings: [(after: UInt64, epoch: UInt64)] = []

    /// Offset 0 belongs to the first one.
    func epoch(of offset: UInt64) -> UInt64 {
        beginnings.last { $0.after < offset }?.epoch ?? beginnings.first?.epoch ?? 0
    }

    package func position(_ offset: UInt64) -> StreamPosition {
        StreamPosition(epoch: epoch(of: offset), offset: offset)
    }
}

extension EventsRequest {
    /// Everybody gets gaps.
    fileprivate func selects(_ event: AppEvent) -> Bool {
        guard event.type != .gap else { return true }
        guard types == 0 || types & 1 << UInt32(event.type.rawValue) != 0 else { return false }
        return channelPrefix.isEmpty || event.keyType != .user && event.key.hasPrefix(channelPrefix)
    }
}
