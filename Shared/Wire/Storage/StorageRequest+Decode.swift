import RTMModel

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

extension MetadataItem: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(key: "")
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.key: key = try field.view.copiedName()
            case Fields.value: value = try field.view.copiedName()
            case Fields.revision: revision = try field.int64
            case Fields.updateTsMs: updatedMilliseconds = try field.uint64
            case Fields.author: author = try field.view.copiedName()
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

extension GetHistory: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(channelType: ChannelType.none, channel: "", count: 0, start: 0, end: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.GetHistory.channelType: channelType = ChannelType(rawValue: try field.enumeration)
            case Schema.GetHistory.channel: channel = try field.view.copiedName()
            case Schema.GetHistory.count: count = try field.uint32
            case Schema.GetHistory.startMs: start = try field.uint64
            case Schema.GetHistory.endMs: end = try field.uint64
            default: break
            }
        }
    }
}

extension WireText {
    /// A copy of a text. A NUL is refused, and so is malformed UTF-8.
    func copiedName() throws(WireError) -> String { try refusingNul().copiedIfValid() }
}
