import NIOCore
import RTMModel
import RTMWire

/// The answer to a client's call, as the edge passes it on.
struct ClientAnswer: WireMessage {
    /// The one field of a ServerFrame's body, with its key.
    let field: ByteBuffer

    func write(to sink: inout some FieldSink) {
        field.withUnsafeReadableBytes { bytes in
            StorageCallResponse(response: WireText(bytes)).write(to: &sink)
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
