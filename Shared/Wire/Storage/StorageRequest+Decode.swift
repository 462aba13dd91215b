import RTMModel

extension StorageRequest {
    /// Reads the one field of ClientFrame.body that an edge passes on. Nil for a request of another service
    /// or of a newer protocol.
    package init?(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var scanner = ProtobufScanner(bytes)
        guard let field = try scanner.next() else { throw .undecodable }
        let body = try field.bytes
        guard try scanner.next() == nil else { throw .undecodable }
        switch field.number {
        case 30: self = .writeMetadata(try WriteMetadata(scanning: body))
        case 31: self = .getMetadata(try MetadataTarget(scanning: body))
        case 40...44: self = .lock(try LockRequest(scanning: body, field: field.number))
        case 45: self = .getLocks(try LockPlace(scanning: body))
        case 50: self = .getHistory(try GetHistory(scanning: body))
        default: return nil
        }
    }
}

extension MetadataTarget: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(channelType: ChannelType.none, target: "")
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: channelType = try field.channelType
            case 2: target = try field.name
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
            case 1: target.channelType = try field.channelType
            case 2: target.target = try field.name
            case 3:
                guard let known = MetadataWriteKind(rawValue: Int(try field.int32)) else {
                    throw .undecodable
                }
                kind = known
            case 4: items.append(try MetadataItem(scanning: try field.bytes))
            case 5: majorRevision = Int64(bitPattern: try field.uint64)
            case 6: recordsTime = try field.uint64 != 0
            case 7: recordsAuthor = try field.uint64 != 0
            case 8: lock = try field.name
            case 9: fencingToken = try field.uint64
            default: break
            }
        }
    }
}

extension MetadataItem: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(key: "")
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: key = try field.name
            case 2: value = try field.name
            case 3: revision = Int64(bitPattern: try field.uint64)
            case 4: updatedMilliseconds = try field.uint64
            case 5: author = try field.name
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
            case 1: channelType = try field.channelType
            case 2: channel = try field.name
            default: break
            }
        }
    }
}

extension LockRequest {
    /// The five lock requests have their first three fields in common; what the fourth and fifth mean depends
    /// on which one it is.
    fileprivate init(scanning bytes: UnsafeRawBufferPointer, field number: UInt32) throws(WireError) {
        var name = ""
        var fourth: ProtobufScanner.Field?
        var fifth: UInt64 = 0
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 3: name = try field.name
            case 4: fourth = field
            case 5 where number == 42: fifth = try field.uint64
            default: break
            }
        }
        let action: Action
        switch number {
        case 40: action = .set(ttlSeconds: try fourth?.uint32 ?? 0)
        case 41: action = .remove
        case 42: action = .acquire(retry: try fourth?.uint64 ?? 0 != 0, heldToken: fifth)
        case 43: action = .release(withdraw: try fourth?.uint64 ?? 0 != 0)
        default: action = .revoke(owner: try fourth?.name ?? "")
        }
        self.init(action, name, at: try LockPlace(scanning: bytes))
    }
}

extension GetHistory: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(channelType: ChannelType.none, channel: "", count: 0, start: 0, end: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: channelType = try field.channelType
            case 2: channel = try field.name
            case 3: count = try field.uint32
            case 4: start = try field.uint64
            case 5: end = try field.uint64
            default: break
            }
        }
    }
}

extension ProtobufScanner.Field {
    fileprivate var channelType: ChannelType? {
        get throws(WireError) { ChannelType(rawValue: Int(try int32)) }
    }

    /// A text without NUL, copied. Malformed UTF-8 is refused.
    fileprivate var name: String {
        get throws(WireError) {
            _ = try text
            return try string
        }
    }
}
