package import RTMModel

/// The client whose request an edge passes on (protocol/schema/service/call.proto).
package struct Caller: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.Caller
    package var appID: String
    package var userID: String
    package var session: SessionID
    /// The number of the client object, which it keeps over its reconnections; 0 = unknown.
    package var instance: UInt64

    package init(appID: String, userID: String, session: SessionID, instance: UInt64) {
        self.appID = appID
        self.userID = userID
        self.session = session
        self.instance = instance
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.appId, appID)
        sink.field(Fields.userId, userID)
        sink.field(Fields.sessionId, session.rawValue)
        sink.field(Fields.instance, instance)
    }
}

/// A request of a client on its way to a service. The edge copies the client's bytes and the service reads
/// them, so a new kind of request is none of the edge's business.
package struct CallRequest: WireMessage {
    package typealias Fields = Schema.CallRequest
    package let caller: Caller
    /// The one field of ClientFrame.body, with its key.
    package let request: WireText

    package init(caller: Caller, request: WireText) {
        self.caller = caller
        self.request = request
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.caller, caller)
        sink.field(Fields.request, request)
    }
}

package struct CallResponse: WireMessage {
    package typealias Fields = Schema.CallResponse
    /// The one field of ServerFrame.body, with its key.
    package let response: WireText
    /// The bytes that the call sends to other users: those of its event, times the users who get it.
    package let cost: UInt64

    package init(response: WireText, cost: UInt64 = 0) {
        self.response = response
        self.cost = cost
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.response, response)
        sink.field(Fields.cost, cost)
    }
}
