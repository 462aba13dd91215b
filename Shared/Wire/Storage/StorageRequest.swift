package import RTMModel

/// What a client asks of storage, copied out of its frame, because it goes to another thread.
///
/// A channel type is nil if its number is not a channel type.
package enum StorageRequest: Sendable, Hashable {
    case writeMetadata(WriteMetadata)
    case getMetadata(MetadataTarget)
    case lock(LockRequest)
    case getLocks(LockPlace)
    case getHistory(GetHistory)
}

extension CallRequest {
    /// The channel or user whose metadata, locks or history the request to storage is about; nil if that
    /// can't be read, or isn't there. Nothing else of the request is read.
    package var storedChannel: ChannelKey? {
        guard let (type, target) = try? scannedTarget, let type else { return nil }
        let isOwn = target.isEmpty && (type == .none || type == .user)
        return ChannelKey(appID: caller.appID, type: type, name: isOwn ? caller.userID : target.string)
    }

    /// Every request to storage begins with the type of a channel and a name (a test holds the schema to it).
    private var scannedTarget: (ChannelType?, WireText) {
        get throws(WireError) {
            var found = (ChannelType(rawValue: 0), WireText.empty)
            var request = ProtobufScanner(self.request.bytes)
            guard let body = try request.next() else { throw .undecodable }
            var scanner = ProtobufScanner(try body.bytes)
            while let field = try scanner.next() {
                switch field.number {
                case Schema.GetMetadata.channelType: found.0 = ChannelType(rawValue: try field.enumeration)
                case Schema.GetMetadata.target: found.1 = try field.view
                default: break
                }
            }
            return found
        }
    }
}

/// Whose metadata a request is about: a channel's (type message or stream) or a user's (type none).
package struct MetadataTarget: Sendable, Hashable {
    package var channelType: ChannelType?
    /// The channel's name or the user's id; empty for the caller's own metadata.
    package var target: String

    package init(channelType: ChannelType?, target: String) {
        self.channelType = channelType
        self.target = target
    }
}

package struct WriteMetadata: Sendable, Hashable {
    package var target: MetadataTarget
    package var kind: MetadataWriteKind
    package var items: [MetadataItem]
    /// The write applies only if this is the set's revision. -1: only if nothing was ever written. 0: always.
    package var majorRevision: Int64
    package var recordsTime: Bool
    package var recordsAuthor: Bool
    /// The write applies only if the caller owns this lock of the channel. Empty: no lock is needed.
    package var lock: String
    /// The write applies only if this is the present token of that lock. 0: to own the lock is enough.
    package var fencingToken: UInt64

    package init(
        _ kind: MetadataWriteKind, of target: MetadataTarget, items: [MetadataItem], majorRevision: Int64 = 0,
        recordsTime: Bool = false, recordsAuthor: Bool = false, lock: String = "", fencingToken: UInt64 = 0
    ) {
        self.kind = kind
        self.target = target
        self.items = items
        self.majorRevision = majorRevision
        self.recordsTime = recordsTime
        self.recordsAuthor = recordsAuthor
        self.lock = lock
        self.fencingToken = fencingToken
    }
}

/// The locks of a channel.
package struct LockPlace: Sendable, Hashable {
    package var channelType: ChannelType?
    package var channel: String

    package init(channelType: ChannelType?, channel: String) {
        self.channelType = channelType
        self.channel = channel
    }
}

package struct LockRequest: Sendable, Hashable {
    package enum Action: Sendable, Hashable {
        /// 0 means the default.
        case set(ttlSeconds: UInt32)
        case remove
        case acquire(retry: Bool, heldToken: UInt64)
        /// With `withdraw` the caller also leaves the queue of the lock, and not to own the lock is no error.
        case release(withdraw: Bool)
        case revoke(owner: String)
    }

    package var place: LockPlace
    package var name: String
    package var action: Action

    package init(_ action: Action, _ name: String, at place: LockPlace) {
        self.action = action
        self.name = name
        self.place = place
    }
}

// MARK: - Reading

extension StorageRequest {
    /// Reads the one field of ClientFrame.body that an edge passes on. The result is nil for a request to
    /// another service or of a newer protocol.
    package init?(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var scanner = ProtobufScanner(bytes)
        guard let field = try scanner.next() else { throw .undecodable }
        let body = try field.bytes
        guard try scanner.next() == nil else { throw .undecodable }
        guard let kind = ClientCall.Kind(rawValue: field.number) else { return nil }
        switch kind {
        case .writeMetadata: self = .writeMetadata(try WriteMetadata(scanning: body))
        case .getMetadata: self = .getMetadata(try MetadataTarget(scanning: body))
        case .setLock: self = .lock(try LockRequest(settingIn: body))
        case .removeLock: self = .lock(try LockRequest(removingIn: body))
        case .acquireLock: self = .lock(try LockRequest(acquiringIn: body))
        case .releaseLock: self = .lock(try LockRequest(releasingIn: body))
        case .revokeLock: self = .lock(try LockRequest(revokingIn: body))
        case .getLocks: self = .getLocks(try LockPlace(scanning: body))
        case .getHistory: self = .getHistory(try GetHistory(scanning: body))
        case .whoNow, .whereNow, .setState, .getState, .removeState: return nil
        }
    }
}

extension MetadataTarget: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(channelType: ChannelType.none, target: "")
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.GetMetadata.channelType: channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.GetMetadata.target: target = try field.view.copiedName()
            default: break
            }
        }
    }
}

extension WriteMetadata: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(.set, of: MetadataTarget(channelType: ChannelType.none, target: ""), items: [])
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.WriteMetadata.channelType:
                target.channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.WriteMetadata.target: target.target = try field.view.copiedName()
            case Schema.WriteMetadata.kind:
                guard let known = MetadataWriteKind(rawValue: try field.enumeration) else {
                    throw .undecodable
                }
                kind = known
            case Schema.WriteMetadata.items: items.append(try MetadataItem(scanning: field.bytes))
            case Schema.WriteMetadata.majorRevision: majorRevision = try field.int64
            case Schema.WriteMetadata.recordTs: recordsTime = try field.bool
            case Schema.WriteMetadata.recordAuthor: recordsAuthor = try field.bool
            case Schema.WriteMetadata.lock: lock = try field.view.copiedName()
            case Schema.WriteMetadata.fencingToken: fencingToken = try field.uint64
            default: break
            }
        }
    }
}

extension LockPlace: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(channelType: ChannelType.none, channel: "")
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.GetLocks.channelType: channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.GetLocks.channel: channel = try field.view.copiedName()
            default: break
            }
        }
    }
}

extension WireText {
    /// A copy of a text. A NUL is refused, and so is malformed UTF-8.
    func copiedName() throws(WireError) -> String { try refusingNul().copiedIfValid() }
}

// MARK: - Requests about locks

/// The five requests about locks are five messages of the schema, and one type here.
extension LockRequest {
    init(settingIn bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(.set(ttlSeconds: 0))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.SetLock.channelType: place.channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.SetLock.channel: place.channel = try field.view.copiedName()
            case Schema.SetLock.name: name = try field.view.copiedName()
            case Schema.SetLock.ttlS: action = .set(ttlSeconds: try field.uint32)
            default: break
            }
        }
    }

    init(removingIn bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(.remove)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.RemoveLock.channelType:
                place.channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.RemoveLock.channel: place.channel = try field.view.copiedName()
            case Schema.RemoveLock.name: name = try field.view.copiedName()
            default: break
            }
        }
    }

    init(acquiringIn bytes: UnsafeRawBufferPointer) throws(WireError) {
        var waits = false
        var token: UInt64 = 0
        self.init(.acquire(retry: false, heldToken: 0))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.AcquireLock.channelType:
                place.channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.AcquireLock.channel: place.channel = try field.view.copiedName()
            case Schema.AcquireLock.name: name = try field.view.copiedName()
            case Schema.AcquireLock.retry: waits = try field.bool
            case Schema.AcquireLock.heldToken: token = try field.uint64
            default: break
            }
        }
        action = .acquire(retry: waits, heldToken: token)
    }

    init(releasingIn bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(.release(withdraw: false))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ReleaseLock.channelType:
                place.channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.ReleaseLock.channel: place.channel = try field.view.copiedName()
            case Schema.ReleaseLock.name: name = try field.view.copiedName()
            case Schema.ReleaseLock.withdraw: action = .release(withdraw: try field.bool)
            default: break
            }
        }
    }

    init(revokingIn bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(.revoke(owner: ""))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.RevokeLock.channelType:
                place.channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.RevokeLock.channel: place.channel = try field.view.copiedName()
            case Schema.RevokeLock.name: name = try field.view.copiedName()
            case Schema.RevokeLock.owner: action = .revoke(owner: try field.view.copiedName())
            default: break
            }
        }
    }

    private init(_ action: Action) {
        self.init(action, "", at: LockPlace(channelType: ChannelType.none, channel: ""))
    }
}
