import CProtobufC
import RTMProtocol
import RTMProtocolC
import SwiftProtobuf
import Testing

/// One message of the schema in both codecs.
struct SchemaMessage: Sendable, CustomTestStringConvertible {
    typealias Descriptor = UnsafePointer<ProtobufCMessageDescriptor>
    typealias Allocator = UnsafeMutablePointer<ProtobufCAllocator>

    let swift: any Message.Type
    private let unpack:
        @Sendable (Allocator?, UnsafeRawBufferPointer) -> UnsafeMutablePointer<ProtobufCMessage>?

    /// - Parameter unpack: the generated C function.
    init<C>(
        _ swift: any Message.Type,
        _ unpack: @escaping @Sendable (Allocator?, Int, UnsafePointer<UInt8>?) -> UnsafeMutablePointer<C>?
    ) {
        self.swift = swift
        self.unpack = { allocator, bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            // Every generated struct begins with its ProtobufCMessage.
            return UnsafeMutableRawPointer(unpack(allocator, bytes.count, start))?
                .assumingMemoryBound(to: ProtobufCMessage.self)
        }
    }

    var testDescription: String { swift.protoMessageName }

    /// The C codec's description of the message.
    func descriptor() throws -> Descriptor {
        let message = try #require(unpack(nil, UnsafeRawBufferPointer(start: nil, count: 0)))
        defer { protobuf_c_message_free_unpacked(message, nil) }
        return try #require(message.pointee.descriptor)
    }

    /// Unpacked and packed again by the C codec.
    func throughC(_ bytes: [UInt8], _ allocator: Allocator?) throws -> [UInt8] {
        let message = try #require(bytes.withUnsafeBytes { unpack(allocator, $0) })
        defer { protobuf_c_message_free_unpacked(message, allocator) }
        var packed = [UInt8](repeating: 0xAA, count: protobuf_c_message_get_packed_size(message))
        let written = protobuf_c_message_pack(message, &packed)
        #expect(written == packed.count)
        return packed
    }
}

extension SchemaMessage {
    /// `RoundTripTests` holds this list against the .proto files.
    static let all = client + service

    private static let client = [
        SchemaMessage(Rtm_Client_ClientFrame.self, rtm__client__client_frame__unpack),
        SchemaMessage(Rtm_Client_ServerFrame.self, rtm__client__server_frame__unpack),
        SchemaMessage(Rtm_Client_Hello.self, rtm__client__hello__unpack),
        SchemaMessage(Rtm_Client_Welcome.self, rtm__client__welcome__unpack),
        SchemaMessage(Rtm_Client_Login.self, rtm__client__login__unpack),
        SchemaMessage(Rtm_Client_LoggedIn.self, rtm__client__logged_in__unpack),
        SchemaMessage(Rtm_Client_RenewToken.self, rtm__client__renew_token__unpack),
        SchemaMessage(Rtm_Client_TokenRenewed.self, rtm__client__token_renewed__unpack),
        SchemaMessage(Rtm_Client_TokenWillExpire.self, rtm__client__token_will_expire__unpack),
        SchemaMessage(Rtm_Client_Logout.self, rtm__client__logout__unpack),
        SchemaMessage(Rtm_Client_LoggedOut.self, rtm__client__logged_out__unpack),
        SchemaMessage(Rtm_Client_Heartbeat.self, rtm__client__heartbeat__unpack),
        SchemaMessage(Rtm_Client_HeartbeatAck.self, rtm__client__heartbeat_ack__unpack),
        SchemaMessage(Rtm_Client_Disconnect.self, rtm__client__disconnect__unpack),
        SchemaMessage(Rtm_Client_StreamPosition.self, rtm__client__stream_position__unpack),
        SchemaMessage(Rtm_Client_Subscribe.self, rtm__client__subscribe__unpack),
        SchemaMessage(Rtm_Client_Subscribed.self, rtm__client__subscribed__unpack),
        SchemaMessage(Rtm_Client_Unsubscribe.self, rtm__client__unsubscribe__unpack),
        SchemaMessage(Rtm_Client_Unsubscribed.self, rtm__client__unsubscribed__unpack),
        SchemaMessage(Rtm_Client_Publish.self, rtm__client__publish__unpack),
        SchemaMessage(Rtm_Client_Published.self, rtm__client__published__unpack),
        SchemaMessage(Rtm_Client_Publication.self, rtm__client__publication__unpack),
        SchemaMessage(Rtm_Client_Message.self, rtm__client__message__unpack),
        SchemaMessage(Rtm_Client_Gap.self, rtm__client__gap__unpack),
        SchemaMessage(Rtm_Client_Limit.self, rtm__client__limit__unpack),
        SchemaMessage(Rtm_Client_Error.self, rtm__client__error__unpack),
    ]

    private static let service = [
        SchemaMessage(Rtm_Service_LinkFrame.self, rtm__service__link_frame__unpack),
        SchemaMessage(Rtm_Service_LinkHello.self, rtm__service__link_hello__unpack),
        SchemaMessage(Rtm_Service_LinkWelcome.self, rtm__service__link_welcome__unpack),
        SchemaMessage(Rtm_Service_LinkRequest.self, rtm__service__link_request__unpack),
        SchemaMessage(Rtm_Service_LinkResponse.self, rtm__service__link_response__unpack),
        SchemaMessage(Rtm_Service_LinkPush.self, rtm__service__link_push__unpack),
        SchemaMessage(Rtm_Service_LinkHeartbeat.self, rtm__service__link_heartbeat__unpack),
        SchemaMessage(Rtm_Service_LinkHeartbeatAck.self, rtm__service__link_heartbeat_ack__unpack),
        SchemaMessage(Rtm_Service_LinkGoAway.self, rtm__service__link_go_away__unpack),
        SchemaMessage(Rtm_Service_ChannelKey.self, rtm__service__channel_key__unpack),
        SchemaMessage(Rtm_Service_AttachRequest.self, rtm__service__attach_request__unpack),
        SchemaMessage(Rtm_Service_AttachResponse.self, rtm__service__attach_response__unpack),
        SchemaMessage(Rtm_Service_SupersededPush.self, rtm__service__superseded_push__unpack),
        SchemaMessage(Rtm_Service_DetachPush.self, rtm__service__detach_push__unpack),
        SchemaMessage(Rtm_Service_PublishRequest.self, rtm__service__publish_request__unpack),
        SchemaMessage(Rtm_Service_PublishResponse.self, rtm__service__publish_response__unpack),
        SchemaMessage(Rtm_Service_ReadRequest.self, rtm__service__read_request__unpack),
        SchemaMessage(Rtm_Service_ReadResponse.self, rtm__service__read_response__unpack),
        SchemaMessage(Rtm_Service_DeliveryPush.self, rtm__service__delivery_push__unpack),
        SchemaMessage(Rtm_Service_JoinRequest.self, rtm__service__join_request__unpack),
        SchemaMessage(Rtm_Service_AppendHistoryRequest.self, rtm__service__append_history_request__unpack),
    ]
}
