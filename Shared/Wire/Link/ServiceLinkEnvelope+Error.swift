package import RTMModel

extension RTMError {
    /// Reads `rtm.client.Error`. A code that this version doesn't know becomes `serviceNotSupport`, its
    /// number in the reason.
    package init(decoding bytes: UnsafeRawBufferPointer) throws(WireError) {
        var code: Int32 = 0
        var reason = ""
        var retryAfterMilliseconds: UInt32 = 0
        var limit: Limit?
        var conflict: Conflict?
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: code = try field.int32
            case 2: reason = try field.string
            case 3: retryAfterMilliseconds = try field.uint32
            case 4: limit = try Limit(decoding: try field.bytes)
            case 5: conflict = try Conflict(decoding: try field.bytes)
            default: break
            }
        }
        let known = ErrorCode(rawValue: Int(code))
        self.init(
            known ?? .serviceNotSupport,
            known == nil ? "error \(code), unknown to this version: \(reason)" : reason,
            retryAfter: retryAfterMilliseconds == 0 ? nil : .milliseconds(Int64(retryAfterMilliseconds)),
            limit: limit, conflict: conflict)
    }
}

extension RTMError.Limit {
    fileprivate init(decoding bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(name: "", value: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: name = try field.string
            case 2: value = try field.uint64
            default: break
            }
        }
    }
}

extension RTMError.Conflict {
    fileprivate init(decoding bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(majorRevision: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case 1: majorRevision = Int64(bitPattern: try field.uint64)
            case 2: key = try field.string
            case 3: revision = Int64(bitPattern: try field.uint64)
            default: break
            }
        }
    }
}
