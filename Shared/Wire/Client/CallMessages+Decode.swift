import CProtobufC
import RTMModel
import RTMProtocolC

extension CallRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__call_request__unpack)
        try self.init(caller: Caller(decoded: message.caller), request: WireText(message.request))
    }
}

extension CallResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__call_response__unpack)
        self.init(response: WireText(message.response), cost: message.cost)
    }
}

extension Caller {
    init(decoded caller: UnsafeMutablePointer<Rtm__Service__Caller>?) throws(WireError) {
        guard let caller = caller?.pointee else { throw .undecodable }
        self.init(
            appID: WireText(caller.app_id).string, userID: WireText(caller.user_id).string,
            session: SessionID(rawValue: caller.session_id), instance: caller.instance)
    }
}
