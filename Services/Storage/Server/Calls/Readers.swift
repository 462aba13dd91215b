import RTMModel
import RTMWire

/// Makes a gateway the one that reads under a name (W-44).
extension ClaimReader: StorageChange {
    private var key: EventReaderKey { EventReaderKey(appID: appID, name: name) }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {
        keys.eventApps.insert(appID)
        keys.readers.insert(key)
    }

    func apply(
        _ transaction: inout StorageTransaction
    ) throws(StoreFailure) -> Result<ReaderClaimed, RTMError>? {
        let app = try transaction.group.eventApp(appID)
        guard
            var reader = transaction.group.reader(key)
                ?? (app.readers < EventReaderState.perAppMax ? .init(at: app.newest) : nil)
        else { return .failure(Self.hasTooManyReaders) }
        let term = transaction.group.counter + 1
        let claimed = reader.claim(self, term: term, now: transaction.now.wall)
        if claimed.term != 0 {
            transaction.group.counter = term
            transaction.group.setReader(reader, key)
        }
        return .success(claimed)
    }

    private static var hasTooManyReaders: RTMError {
        RTMError(
            .storageOperationFailed,
            "the app has \(EventReaderState.perAppMax) readers of its events, which is the limit",
            limit: .init(name: "readers of an app", value: UInt64(EventReaderState.perAppMax)))
    }
}

extension ReaderClaimed: StorageAnswer {}

/// Keeps how far a reader has come, with its dead letters.
extension KeepReader: StorageChange {
    private var key: EventReaderKey { EventReaderKey(appID: appID, name: name) }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) { keys.readers.insert(key) }

    func apply(_ transaction: inout StorageTransaction) -> Result<ReaderKept, RTMError>? {
        guard var reader = transaction.group.reader(key),
            let letters = reader.keep(self, now: transaction.now.wall)
        else { return .success(ReaderKept(isKept: false)) }
        transaction.group.setReader(reader, key)
        transaction.group.keep(letters, removing: removed.map(\.number), of: key)
        return .success(ReaderKept(isKept: true))
    }
}

extension ReaderKept: StorageAnswer {}

/// Moves a reader to another position, or forgets it.
extension MoveReader: StorageChange {
    private var key: EventReaderKey { EventReaderKey(appID: appID, name: name) }

    func collect(_ keys: inout GroupKeys, _ registry: LockRegistry) {
        keys.eventApps.insert(appID)
        keys.readers.insert(key)
    }

    func apply(_ transaction: inout StorageTransaction) -> Result<ReaderMoved, RTMError>? {
        guard var reader = transaction.group.reader(key) else { return .success(ReaderMoved(isFound: false)) }
        if forgets {
            transaction.group.setReader(nil, key)
        } else {
            transaction.group.counter += 1
            reader.move(to: position, term: transaction.group.counter)
            transaction.group.setReader(reader, key)
        }
        return .success(ReaderMoved(isFound: true))
    }
}

extension ReaderMoved: StorageAnswer {}

extension ReadersResponse {
    /// Limit: readers of a page. The state of each of them may have 64 KiB.
    static let countMax = 100
}

/// Asks for a page of the readers of an app's events.
extension ReadersRequest: StorageQuery {
    var answerBytesMax: Int { 2 << 20 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> ReadersResponse {
        let readers = try store.readers(self, limit: ReadersResponse.countMax + 1, now: now)
        let bounds = try store.eventBounds(of: appID)
        return ReadersResponse(
            readers: Array(readers.prefix(ReadersResponse.countMax)),
            hasMore: readers.count > ReadersResponse.countMax, newest: bounds.newest, oldest: bounds.oldest)
    }
}

extension DeadLettersResponse {
    /// Limit: dead letters of a page.
    static let countMax = 100
}

/// Asks for a page of a reader's dead letters.
extension DeadLettersRequest: StorageQuery {
    var answerBytesMax: Int { 2 << 20 }

    func answer(from store: some ReadableStore, now: UInt64) throws(StoreFailure) -> DeadLettersResponse {
        let limit = min(max(1, Int(limit)), DeadLettersResponse.countMax)
        let letters = try store.deadLetters(self, limit: limit + 1)
        return DeadLettersResponse(letters: Array(letters.prefix(limit)), hasMore: letters.count > limit)
    }
}
