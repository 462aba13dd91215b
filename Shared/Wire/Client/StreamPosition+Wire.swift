package import RTMModel
import RTMProtocolC

extension StreamPosition: WireMessage {
    package typealias Fields = Schema.StreamPosition

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.epoch, epoch)
        sink.field(Fields.offset, offset)
    }
}

extension StreamPosition {
    init?(_ position: UnsafeMutablePointer<Rtm__Client__StreamPosition>?) {
        guard let position else { return nil }
        self.init(epoch: position.pointee.epoch, offset: position.pointee.offset)
    }
}
