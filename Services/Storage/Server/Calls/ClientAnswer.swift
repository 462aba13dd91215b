import NIOCore
import RTMModel
import RTMWire

/// The answer to a client's call, as the edge passes it on, or a ticket for a client that waits for a lock.
struct ClientAnswer: WireMessage, StorageAnswer {
    /// The one field of a ServerFrame's body, with its key. Empty for a ticket.
    let field: ByteBuffer
    let ticket: UInt64

    init(_ body: some ServerFrameBody) { (field, ticket) = (body.field, 0) }

    init(ticket: UInt64) { (field, self.ticket) = (ByteBuffer(), ticket) }

    func write(to sink: inout some FieldSink) {
        field.withUnsafeReadableBytes { bytes in
            StorageCallResponse(response: WireText(bytes), ticket: ticket).write(to: &sink)
        }
    }
}

/// What a new subscriber begins with, as frames for clients.
struct SnapshotFrames: WireMessage {
    let frames: ByteBuffer

    func write(to sink: inout some FieldSink) {
        frames.withUnsafeReadableBytes { bytes in SnapshotResponse(frames: WireText(bytes)).write(to: &sink) }
    }
}
