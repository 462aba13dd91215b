package import RTMModel

/// An error as clients and services receive it (protocol/schema/client/error.proto).
extension RTMError: ServerFrameBody {
    package typealias Fields = Schema.Error
    package static var field: SchemaField<Fields> { Schema.ServerFrame.error }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.code, code)
        sink.field(Fields.reason, reason)
        if let retryAfter { sink.field(Fields.retryAfterMs, milliseconds: retryAfter) }
        if let limit { sink.field(Fields.limit, limit) }
        if let conflict { sink.field(Fields.conflict, conflict) }
    }
}

extension RTMError.Limit: WireMessage {
    package typealias Fields = Schema.Limit

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.name, name)
        sink.field(Fields.value, value)
    }
}

extension RTMError.Conflict: WireMessage {
    package typealias Fields = Schema.Conflict

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.majorRevision, majorRevision)
        sink.field(Fields.key, key ?? "")
        sink.field(Fields.revision, revision)
    }
}

// MARK: - Reading

extension RTMError {
    /// A code that this version doesn't know becomes `.serviceNotSupport` (-10022), with its number in the
    /// reason.
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var code = 0
        var reason = ""
        var retryAfterMilliseconds: UInt32 = 0
        var limit: Limit?
        var conflict: Conflict?
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.code: code = try field.enumeration
            case Fields.reason: reason = try field.view.copiedIfValid()
            case Fields.retryAfterMs: retryAfterMilliseconds = try field.uint32
            case Fields.limit: limit = try Limit(scanning: field.bytes)
            case Fields.conflict: conflict = try Conflict(scanning: field.bytes)
            default: break
            }
        }
        let known = ErrorCode(rawValue: code)
        self.init(
            known ?? .serviceNotSupport,
            known == nil ? "error \(code), which this version does not know: \(reason)" : reason,
            retryAfter: retryAfterMilliseconds == 0 ? nil : .milliseconds(Int64(retryAfterMilliseconds)),
            limit: limit, conflict: conflict)
    }
}

extension RTMError.Limit {
    fileprivate init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(name: "", value: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.name: name = try field.view.copiedIfValid()
            case Fields.value: value = try field.uint64
            default: break
            }
        }
    }
}

extension RTMError.Conflict {
    fileprivate init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        self.init(majorRevision: 0)
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.majorRevision: majorRevision = try field.int64
            case Fields.key: key = try field.view.copiedIfValid()
            case Fields.revision: revision = try field.int64
            default: break
            }
        }
    }
}
