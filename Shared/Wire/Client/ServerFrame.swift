package import NIOCore

/// A frame from an edge to a client: the answer to a request, or what the server sends of its own accord.
package struct ServerFrame<Body: ServerFrameBody>: WireMessage {
    package typealias Fields = Schema.ServerFrame
    /// The id of the request that this answers; 0 for everything else.
    let requestID: UInt64
    let body: Body

    package init(_ body: Body, answering requestID: UInt64 = 0) {
        self.requestID = requestID
        self.body = body
    }

    @inline(__always)
    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.requestId, requestID)
        sink.field(Body.field, body)
    }
}

/// A body of ServerFrame, which knows its field there.
package protocol ServerFrameBody: WireMessage {
    static var field: SchemaField<Fields> { get }
}

extension ServerFrameBody {
    /// The body as the one field of ServerFrame.body, with its key: what a CallResponse carries.
    package var field: ByteBuffer { FieldMessage(Self.field, self).buffer }
}

/// The answer to a call: the field that the service wrote, behind the request id.
package struct CallAnswer: WireMessage {
    package typealias Fields = Schema.ServerFrame
    let requestID: UInt64
    let response: WireText

    /// - Parameter response: the one field of ServerFrame.body, with its key.
    package init(answering requestID: UInt64, _ response: WireText) {
        self.requestID = requestID
        self.response = response
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.requestId, requestID)
        sink.raw(response.bytes)
    }
}
