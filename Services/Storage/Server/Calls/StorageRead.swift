import NIOCore
import RTMModel
import RTMWire

/// A read on its way to a reader.
struct StorageRead: Sendable {
    enum Work: Sendable {
        case metadata(ChannelKey)
        case locks(ChannelKey)
        case history(HistorySelection)
        case snapshot(SnapshotRequest)
        /// For the outbox: the events that wait after this sequence.
        case events(after: UInt64, limit: Int)
        /// For operators: a page of the bans that hold.
        case bans(BansRequest)
        /// For the collector: how far the feeds of an app were read.
        case eventFeeds(appID: String)
        case appEvents(EventsRequest)
        case readers(ReadersRequest)
        case deadLetters(DeadLettersRequest)
        case audit(AuditRequest)
    }

    let work: Work
    let link: UInt64
    let request: UInt64
}

struct ReadOutcome: Sendable {
    enum Answer: Sendable {
        /// The answer to the client, in the form in which a `CallResponse` carries it.
        case call(ByteBuffer)
        /// The snapshot as frames for clients.
        case snapshot(ByteBuffer)
        case events([StorageOutboxEvent])
        case bans(BansResponse)
        case eventFeeds([EventLogs.FeedKey: EventLogs.FeedMark])
        case appEvents(EventsResponse)
        case readers(ReadersResponse)
        case deadLetters(DeadLettersResponse)
        case audit(AuditResponse)
    }

    let read: StorageRead
    let result: Result<Answer, RTMError>
}

extension ReadableStore {
    /// Carries out the reads, all from one committed state. Everything that was acknowledged before the reads
    /// were asked for is in it.
    ///
    /// - Parameter now: the time in milliseconds (UTC).
    func run(_ reads: [StorageRead], now: UInt64) -> [ReadOutcome] {
        var outcomes: [ReadOutcome] = []
        outcomes.reserveCapacity(reads.count)
        do throws(StoreFailure) {
            try snapshot { () throws(StoreFailure) in
                for read in reads {
                    outcomes.append(ReadOutcome(read: read, result: .success(try answer(read.work, now))))
                }
            }
        } catch {
            for read in reads.dropFirst(outcomes.count) {
                outcomes.append(
                    ReadOutcome(read: read, result: .failure(error.error(read.work.failureCode))))
            }
        }
        return outcomes
    }

    private func answer(_ work: StorageRead.Work, _ now: UInt64) throws(StoreFailure) -> ReadOutcome.Answer {
        switch work {
        case .metadata(let channel): .call(try metadataAnswer(channel).field)
        case .locks(let channel): .call(try locksAnswer(channel).field)
        case .history(let query): .call(query.page(try messages(query, now: now)).field)
        case .snapshot(let request): .snapshot(try frames(request))
        case .events(let sequence, let limit): .events(try events(after: sequence, limit: limit))
        case .bans(let place): .bans(try page(after: place, now))
        case .eventFeeds(let app): .eventFeeds(try eventFeeds(of: app))
        case .appEvents(let request):
            .appEvents(
                try eventPage(request, limit: min(max(1, Int(request.limit)), EventsResponse.countMax)))
        case .readers(let request): .readers(try page(request, now))
        case .deadLetters(let request): .deadLetters(try page(request))
        case .audit(let request): .audit(try page(request))
        }
    }

    private func page(after place: BansRequest, _ now: UInt64) throws(StoreFailure) -> BansResponse {
        let bans = try bans(after: place, now: now, limit: BansResponse.countMax + 1)
        return BansResponse(
            bans: Array(bans.prefix(BansResponse.countMax)), hasMore: bans.count > BansResponse.countMax)
    }

    private func page(_ request: ReadersRequest, _ now: UInt64) throws(StoreFailure) -> ReadersResponse {
        let readers = try readers(request, limit: ReadersResponse.countMax + 1, now: now)
        let bounds = try eventBounds(of: request.appID)
        return ReadersResponse(
            readers: Array(readers.prefix(ReadersResponse.countMax)),
            hasMore: readers.count > ReadersResponse.countMax, newest: bounds.newest, oldest: bounds.oldest)
    }

    private func page(_ request: DeadLettersRequest) throws(StoreFailure) -> DeadLettersResponse {
        let limit = min(max(1, Int(request.limit)), DeadLettersResponse.countMax)
        let letters = try deadLetters(request, limit: limit + 1)
        return DeadLettersResponse(letters: Array(letters.prefix(limit)), hasMore: letters.count > limit)
    }

    private func page(_ request: AuditRequest) throws(StoreFailure) -> AuditResponse {
        let limit = min(max(1, Int(request.limit)), AuditTrail.pageMax)
        let lines = try audit(request, limit: limit + 1)
        return AuditResponse(lines: Array(lines.prefix(limit)), hasMore: lines.count > limit)
    }

    private func metadataAnswer(_ channel: ChannelKey) throws(StoreFailure) -> Metadata {
        let set = try metadata(of: channel)
        return Metadata(channel, majorRevision: set.majorRevision, items: set.items)
    }

    /// The revision is the store's counter. It is at least as high as the last change of a lock of this
    /// channel, and lower than the next one.
    private func locksAnswer(_ channel: ChannelKey) throws(StoreFailure) -> Locks {
        Locks(channel, revision: try committedCounter(), locks: try locks(of: channel).details)
    }

    private func frames(_ request: SnapshotRequest) throws(StoreFailure) -> ByteBuffer {
        var frames = ByteBuffer()
        if request.metadata {
            ServerFrame(try metadataAnswer(request.channel)).encodeFrame(into: &frames)
        }
        if request.locks, request.channel.type != .none {
            ServerFrame(try locksAnswer(request.channel)).encodeFrame(into: &frames)
        }
        return frames
    }
}

extension BansResponse {
    /// Limit: bans of a page.
    static let countMax = 1_000
}

extension EventsResponse {
    /// Limit: events of a page.
    static let countMax = 1_000
}

extension ReadersResponse {
    /// Limit: readers of a page. The state of each of them may have 64 KiB.
    static let countMax = 100
}

extension DeadLettersResponse {
    /// Limit: dead letters of a page.
    static let countMax = 100
}

extension StorageRead.Work {
    var failureCode: ErrorCode {
        switch self {
        case .metadata, .snapshot, .events, .bans, .readers, .deadLetters, .audit, .eventFeeds, .appEvents:
            .storageNotAvailable
        case .locks: .lockOperationFailed
        case .history: .historyOperationFailed
        }
    }
}

extension StorageRead.Work {
    /// Whose turn it takes. What the node reads for itself is of no app.
    var appID: String {
        switch self {
        case .metadata(let channel), .locks(let channel): channel.appID
        case .history(let query): query.channel.appID
        case .snapshot(let request): request.channel.appID
        case .appEvents(let request): request.appID
        case .readers(let request): request.appID
        case .deadLetters(let request): request.appID
        case .audit(let request): request.appID
        case .eventFeeds(let app): app
        case .bans, .events: ""
        }
    }

    /// Limit: bytes of one message or event with all that is around it.
    private static let itemBytesMax = 34_000

    /// About how long the answer may be. Pages of history and events end at a number of bytes; a set of
    /// metadata with many small items is the longest of the others that clients can have made.
    var answerBytesMax: Int {
        switch self {
        case .history(let query):
            min(query.count * Self.itemBytesMax, HistorySelection.pageBytesMax + Self.itemBytesMax)
        case .appEvents(let request):
            min(max(1, Int(request.limit)) * Self.itemBytesMax, EventPage.bytesMax + Self.itemBytesMax)
        case .metadata, .snapshot, .bans: 256 * 1024
        case .locks: 16 * 1024
        case .readers, .deadLetters, .audit: 2 << 20
        case .events, .eventFeeds: 0
        }
    }
}
