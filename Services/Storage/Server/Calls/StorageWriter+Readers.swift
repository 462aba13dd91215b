import RTMModel
import RTMWire

/// Readers of an app's events whose positions are kept (W-44).
extension StorageWriter {
    mutating func claim(
        _ request: ClaimReader, _ write: StorageWrite, _ now: StorageNow
    ) throws(StoreFailure) {
        let key = EventReaderKey(appID: request.appID, name: request.name)
        let app = try group.eventApp(request.appID)
        guard
            var reader = group.reader(key)
                ?? (app.readers < EventReaderState.perAppMax ? .init(at: app.newest) : nil)
        else { return answer(write, .failure(Self.hasTooManyReaders)) }
        let term = group.counter + 1
        let claimed = reader.claim(request, term: term, now: now.wall)
        if claimed.term != 0 {
            group.counter = term
            group.setReader(reader, key)
        }
        answer(write, .success(.claimedReader(claimed)))
    }

    mutating func keep(_ request: KeepReader, _ write: StorageWrite, _ now: StorageNow) {
        let key = EventReaderKey(appID: request.appID, name: request.name)
        guard var reader = group.reader(key), let letters = reader.keep(request, now: now.wall) else {
            return answer(write, .success(.keptReader(false)))
        }
        group.setReader(reader, key)
        group.keep(letters, removing: request.removed.map(\.number), of: key)
        answer(write, .success(.keptReader(true)))
    }

    mutating func move(_ request: MoveReader, _ write: StorageWrite) {
        let key = EventReaderKey(appID: request.appID, name: request.name)
        guard var reader = group.reader(key) else { return answer(write, .success(.movedReader(false))) }
        if request.forgets {
            group.setReader(nil, key)
        } else {
            group.counter += 1
            reader.move(to: request.position, term: group.counter)
            group.setReader(reader, key)
        }
        answer(write, .success(.movedReader(true)))
    }

    private static var hasTooManyReaders: RTMError {
        RTMError(
            .storageOperationFailed,
            "the app has \(EventReaderState.perAppMax) readers of its events, which is the limit",
            limit: .init(name: "readers of an app", value: UInt64(EventReaderState.perAppMax)))
    }
}
