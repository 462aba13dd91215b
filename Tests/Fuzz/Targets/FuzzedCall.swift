import RTMModel
import RTMProtocolC
import RTMWire

/// A request of a client that an edge looks at and passes on, and presence or storage reads: any bytes of the
/// client's come that far. What the edge has allowed must be what is done, so both have to see the same
/// channel or user in them.
enum FuzzedCall {
    /// A request id, in front of the one field of a body.
    private static let requestID: [UInt8] = [0x08, 0x01]

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        try storage(bytes)
        let outcome = (requestID + bytes).withUnsafeBytes { frame in
            Result { () throws(Disagreement) in try passedOn(frame) }
        }
        try outcome.get()
        _ = PresenceCall.facts(bytes)
        try RoundTrip.scanned(MetadataItem.self, bytes)
        _ = try? WriteMetadata(scanning: bytes)
        _ = try? MetadataTarget(scanning: bytes)
        _ = try? LockPlace(scanning: bytes)
        _ = try? GetHistory(scanning: bytes)
    }

    /// - Parameter frame: a client's; of interest only if it is a call.
    static func passedOn(_ frame: UnsafeRawBufferPointer) throws(Disagreement) {
        let arena = DecodeArena(capacity: 512)
        guard let request = try? ClientRequest(frame, in: arena), case .call(let call) = request.body else {
            return
        }
        let edge = Subject(call)
        // The service may refuse what the edge doesn't look at.
        guard let service = Subject(readFrom: call.request.bytes) else { return }
        try Disagreement.unless(edge == service, "the edge: \(edge); the service: \(service)")
    }

    /// Whom or what a call is about.
    fileprivate struct Subject: Equatable {
        var kind: ClientCall.Kind
        /// Users have none.
        var type: ChannelType?
        var name: [UInt8]
    }
}

extension FuzzedCall.Subject {
    init(_ call: ClientCall) {
        kind = call.kind
        type = call.kind == .whereNow ? nil : call.channelType
        name = Array(call.target.bytes)
    }

    init?(readFrom bytes: UnsafeRawBufferPointer) {
        if let request = try? StorageRequest(scanning: bytes) {
            self.init(request)
            return
        }
        let arena = DecodeArena(capacity: 512)
        guard let call = try? PresenceCall(bytes, in: arena) else { return nil }
        switch call {
        case .whoNow(let request): self.init(.whoNow, request.channel)
        case .whereNow(let user): self.init(kind: .whereNow, type: nil, name: Array(user.bytes))
        case .setState(let channel, _): self.init(.setState, channel)
        case .getState(let channel, _): self.init(.getState, channel)
        case .removeState(let channel, _): self.init(.removeState, channel)
        case .unknown: return nil
        }
    }

    private init(_ kind: ClientCall.Kind, _ channel: PresenceChannel) {
        self.init(kind: kind, type: channel.type, name: Array(channel.name.bytes))
    }

    private init(_ request: StorageRequest) {
        switch request {
        case .writeMetadata(let write): self.init(.writeMetadata, write.target)
        case .getMetadata(let target): self.init(.getMetadata, target)
        case .getLocks(let place): self.init(.getLocks, place)
        case .lock(let lock): self.init(lock.action.kind, lock.place)
        case .getHistory(let get):
            self.init(kind: .getHistory, type: get.channelType, name: Array(get.channel.utf8))
        }
    }

    private init(_ kind: ClientCall.Kind, _ target: MetadataTarget) {
        self.init(kind: kind, type: target.channelType, name: Array(target.target.utf8))
    }

    private init(_ kind: ClientCall.Kind, _ place: LockPlace) {
        self.init(kind: kind, type: place.channelType, name: Array(place.channel.utf8))
    }
}

extension LockRequest.Action {
    fileprivate var kind: ClientCall.Kind {
        switch self {
        case .set: .setLock
        case .remove: .removeLock
        case .acquire: .acquireLock
        case .release: .releaseLock
        case .revoke: .revokeLock
        }
    }
}

extension PresenceCall {
    /// Copies of everything in the call, so that every view is read; nil when it is refused.
    fileprivate static func facts(_ bytes: UnsafeRawBufferPointer) -> [String]? {
        let arena = DecodeArena(capacity: 512)
        guard let call = try? PresenceCall(bytes, in: arena) else { return nil }
        return switch call {
        case .whoNow(let request): [request.channel.name.hex, request.page.hex]
        case .whereNow(let user): [user.hex]
        case .setState(let channel, let items):
            [channel.name.hex] + items.flatMap { [$0.key.hex, $0.value.hex] }
        case .getState(let channel, let user): [channel.name.hex, user.hex]
        case .removeState(let channel, let keys): [channel.name.hex] + keys.map(\.hex)
        case .unknown: []
        }
    }
}

// MARK: - Storage beside protobuf-c

extension FuzzedCall {
    private static func storage(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let request = try? StorageRequest(scanning: bytes),
            let unpacked = rtm__client__client_frame__unpack(nil, bytes.count, start)
        else { return }
        defer { rtm__client__client_frame__free_unpacked(unpacked, nil) }
        let other = StorageRequest(unpacked.pointee)
        try Disagreement.unless(
            request == other, "scan: \(request); protobuf-c: \(String(describing: other))")
    }
}

extension StorageRequest {
    /// Written independently of the code under test.
    fileprivate init?(_ frame: Rtm__Client__ClientFrame) {
        switch frame.body_case {
        case RTM__CLIENT__CLIENT_FRAME__BODY_WRITE_METADATA:
            guard let write = WriteMetadata(frame.write_metadata.pointee) else { return nil }
            self = .writeMetadata(write)
        case RTM__CLIENT__CLIENT_FRAME__BODY_GET_METADATA:
            let get = frame.get_metadata.pointee
            self = .getMetadata(
                MetadataTarget(channelType: .init(get.channel_type), target: .init(get.target)))
        case RTM__CLIENT__CLIENT_FRAME__BODY_GET_LOCKS:
            let get = frame.get_locks.pointee
            self = .getLocks(LockPlace(channelType: .init(get.channel_type), channel: .init(get.channel)))
        case RTM__CLIENT__CLIENT_FRAME__BODY_GET_HISTORY:
            let get = frame.get_history.pointee
            self = .getHistory(
                GetHistory(
                    channelType: .init(get.channel_type), channel: .init(get.channel), count: get.count,
                    start: get.start_ms, end: get.end_ms))
        default:
            guard let lock = LockRequest(frame) else { return nil }
            self = .lock(lock)
        }
    }
}

extension WriteMetadata {
    fileprivate init?(_ write: Rtm__Client__WriteMetadata) {
        let number = Int(Int32(truncatingIfNeeded: write.kind.rawValue))
        guard let kind = MetadataWriteKind(rawValue: number) else { return nil }
        let items = (0..<write.n_items).compactMap { write.items[$0]?.pointee }.map {
            MetadataItem(
                key: .init($0.key), value: .init($0.value), revision: $0.revision,
                updatedMilliseconds: $0.update_ts_ms, author: .init($0.author))
        }
        self.init(
            kind, of: MetadataTarget(channelType: .init(write.channel_type), target: .init(write.target)),
            items: items, majorRevision: write.major_revision, recordsTime: write.record_ts != 0,
            recordsAuthor: write.record_author != 0, lock: .init(write.lock),
            fencingToken: write.fencing_token)
    }
}

extension LockRequest {
    fileprivate init?(_ frame: Rtm__Client__ClientFrame) {
        switch frame.body_case {
        case RTM__CLIENT__CLIENT_FRAME__BODY_SET_LOCK:
            let lock = frame.set_lock.pointee
            self.init(.set(ttlSeconds: lock.ttl_s), lock.name, lock.channel_type, lock.channel)
        case RTM__CLIENT__CLIENT_FRAME__BODY_REMOVE_LOCK:
            let lock = frame.remove_lock.pointee
            self.init(.remove, lock.name, lock.channel_type, lock.channel)
        case RTM__CLIENT__CLIENT_FRAME__BODY_ACQUIRE_LOCK:
            let lock = frame.acquire_lock.pointee
            self.init(
                .acquire(retry: lock.retry != 0, heldToken: lock.held_token), lock.name, lock.channel_type,
                lock.channel)
        case RTM__CLIENT__CLIENT_FRAME__BODY_RELEASE_LOCK:
            let lock = frame.release_lock.pointee
            self.init(.release(withdraw: lock.withdraw != 0), lock.name, lock.channel_type, lock.channel)
        case RTM__CLIENT__CLIENT_FRAME__BODY_REVOKE_LOCK:
            let lock = frame.revoke_lock.pointee
            self.init(.revoke(owner: .init(lock.owner)), lock.name, lock.channel_type, lock.channel)
        default: return nil
        }
    }

    private init(
        _ action: Action, _ name: UnsafeMutablePointer<CChar>?, _ type: Rtm__Client__ChannelType,
        _ channel: UnsafeMutablePointer<CChar>?
    ) {
        self.init(action, .init(name), at: LockPlace(channelType: .init(type), channel: .init(channel)))
    }
}

extension ChannelType {
    fileprivate init?(_ type: Rtm__Client__ChannelType) {
        self.init(rawValue: Int(Int32(truncatingIfNeeded: type.rawValue)))
    }
}

extension String {
    /// A text of protobuf-c.
    fileprivate init(_ text: UnsafeMutablePointer<CChar>?) {
        self = text.map { String(cString: UnsafePointer($0)) } ?? ""
    }
}
