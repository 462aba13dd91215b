package import RTMModel
import RTMProtocolC

extension StreamPosition: WireMessage {
    package typealias Fields = Schema.StreamPosition

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.epoch, epoch)
        sink.field(Fields.offset, offset)
    }
}

extension StreamPosition: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var (epoch, offset) = (UInt64(0), UInt64(0))
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.epoch: epoch = try field.uint64
            case Fields.offset: offset = try field.uint64
            default: break
            }
        }
        self.init(epoch: epoch, offset: offset)
    }
}

extension StreamPosition {
    init?(_ position: UnsafeMutablePointer<Rtm__Client__StreamPosition>?) {
        guard let position else { return nil }
        self.init(epoch: position.pointee.epoch, offset: position.pointee.offset)
    }
}
