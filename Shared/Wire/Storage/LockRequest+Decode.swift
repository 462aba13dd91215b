import RTMModel

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
