package import NIOCore
package import RTMModel

/// Requests of clients that an edge passes on (protocol/schema/service/call.proto). The edge copies the
/// client's bytes, the service reads them; so a new kind of request is none of the edge's business.
package struct Caller: WireMessage, Sendable, Hashable {
    package var appID: String
    package var userID: String
    package var session: SessionID
    /// Of the client object, kept over its reconnections; 0 = unknown.
    package var instance: UInt64

    package init(appID: String, userID: String, session: SessionID, instance: UInt64) {
        self.appID = appID
        self.userID = userID
        self.session = session
        self.instance = instance
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, appID)
        sink.field(2, userID)
        sink.field(3, session.rawValue)
        sink.field(4, instance)
    }
}

package struct CallRequest: WireMessage {
    package let caller: Caller
    /// The one field of ClientFrame.body, with its key.
    package let request: WireText

    package init(caller: Caller, request: WireText) {
        self.caller = caller
        self.request = request
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, caller)
        sink.field(2, request)
    }
}

package struct CallResponse: WireMessage {
    /// The one field of ServerFrame.body, with its key.
    package let response: WireText

    package init(response: WireText) { self.response = response }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, response)
    }
}

extension ServerFrameBody {
    /// The body as the one field of ServerFrame.body, with its key: what a CallResponse carries.
    package var field: ByteBuffer { FrameField(number: Self.field, body: self).buffer }
}

/// A message as one field of another one, with its key.
struct FrameField<Body: WireMessage>: WireMessage {
    let number: UInt32
    let body: Body

    func write(to sink: inout some FieldSink) { sink.field(number, body) }

    var buffer: ByteBuffer {
        var buffer = ByteBuffer()
        encode(into: &buffer, length: encodedLength)
        return buffer
    }
}

/// A request took effect, and there is nothing to say beyond that.
package struct Done: ServerFrameBody {
    package static let field: UInt32 = 18
    package init() {}
    package func write(to sink: inout some FieldSink) {}
}
