// Written by protocol/generate_wire.py from service/call.proto: `make generate`.
// swift-format-ignore-file

import CProtobufC
package import RTMModel
import RTMProtocolC

extension Schema {
    /// rtm.service.Caller
    package enum Caller {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var userId: SchemaField<String> { SchemaField(2) }
        package static var sessionId: SchemaField<UInt64> { SchemaField(3) }
        package static var instance: SchemaField<UInt64> { SchemaField(4) }
    }

    /// rtm.service.CallRequest
    package enum CallRequest {
        package static var caller: SchemaField<Caller> { SchemaField(1) }
        package static var request: SchemaField<Bytes> { SchemaField(2) }
    }

    /// rtm.service.CallResponse
    package enum CallResponse {
        package static var response: SchemaField<Bytes> { SchemaField(1) }
        package static var cost: SchemaField<UInt64> { SchemaField(2) }
    }
}

/// The client whose request an edge passes on.
package struct Caller: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.Caller
    package var appID: String
    package var userID: String
    /// The user's session.
    package var session: SessionID
    /// The client's Login.instance, which it keeps over its reconnections; 0 = unknown.
    package var instance: UInt64

    package init(appID: String = "", userID: String = "", session: SessionID, instance: UInt64 = 0) {
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

extension Caller {
    init(decoded message: UnsafeMutablePointer<Rtm__Service__Caller>?) throws(WireError) {
        guard let message = message?.pointee else { throw .undecodable }
        self.init(
            appID: WireText(message.app_id).string, userID: WireText(message.user_id).string,
            session: SessionID(rawValue: message.session_id), instance: message.instance)
    }
}

/// A request of a client on its way to a service, as the client sent it.
package struct CallRequest: WireMessage {
    package typealias Fields = Schema.CallRequest
    package var caller: Caller
    /// The one field of ClientFrame.body, with its key.
    package var request: WireText

    package init(caller: Caller, request: WireText = .empty) {
        self.caller = caller
        self.request = request
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.caller, caller)
        sink.field(Fields.request, request)
    }
}

extension CallRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__call_request__unpack)
        try self.init(caller: Caller(decoded: message.caller), request: WireText(message.request))
    }
}

/// The service's answer, which the edge passes on to the client.
package struct CallResponse: WireMessage {
    package typealias Fields = Schema.CallResponse
    /// The one field of ServerFrame.body, with its key; the edge writes the request id before it.
    package var response: WireText
    /// The bytes that the call sends to other users: those of its event, times the users who get it.
    package var cost: UInt64

    package init(response: WireText = .empty, cost: UInt64 = 0) {
        self.response = response
        self.cost = cost
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.response, response)
        sink.field(Fields.cost, cost)
    }
}

extension CallResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__call_response__unpack)
        self.init(response: WireText(message.response), cost: message.cost)
    }
}
