/// A backend's publish: one message, with what it expects of the channel. Like the request in it, it isn't
/// kept.
package struct BackendPublishRequest: WireMessage {
    package typealias Fields = Schema.BackendPublishRequest
    /// Nil if nothing is expected.
    package let condition: PublishCondition?
    package let publish: PublishRequest

    package init(_ publish: PublishRequest, if condition: PublishCondition? = nil) {
        self.condition = condition
        self.publish = publish
    }

    package func write(to sink: inout some FieldSink) {
        if let condition { sink.field(Fields.condition, condition) }
        sink.field(Fields.publish, publish)
    }
}

extension BackendPublishRequest: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var condition: PublishCondition?
        var publish: PublishRequest?
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.condition: condition = try PublishCondition(scanning: field.bytes)
            case Fields.publish: publish = try PublishRequest(scanning: field.bytes)
            default: break
            }
        }
        guard let publish else { throw .undecodable }
        self.init(publish, if: condition)
    }
}
