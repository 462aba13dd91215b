import CProtobufC
import RTMModel
import RTMProtocolC

extension AppendHistoryRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__append_history_request__unpack)
        guard let content = message.message?.pointee else { throw .undecodable }
        try self.init(
            channel: ChannelKey(decoded: message.channel), publisher: WireText(message.publisher).string,
            timestampMilliseconds: message.timestamp_ms,
            message: MessageView(
                type: MessageType(rawValue: Int(content.type.rawValue)), payload: WireText(content.payload),
                customType: WireText(content.custom_type)),
            origin: PublishOrigin(instance: message.instance, sequence: message.sequence))
    }
}

extension StorageCallResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__storage_call_response__unpack)
        self.init(response: WireText(message.response), ticket: message.ticket)
    }
}

extension LockGrantedPush: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var ticket: UInt64 = 0
        var response = WireText.empty
        var error: RTMError?
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Fields.ticket: ticket = try field.uint64
            case Fields.response: response = try field.view
            case Fields.error: error = try RTMError(scanning: field.bytes)
            default: break
            }
        }
        if let error {
            self.init(ticket: ticket, error: error)
        } else {
            self.init(ticket: ticket, response: response)
        }
    }
}

extension SnapshotRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__snapshot_request__unpack)
        try self.init(
            channel: ChannelKey(decoded: message.channel), metadata: message.metadata != 0,
            locks: message.locks != 0)
    }
}

extension SnapshotResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__snapshot_response__unpack)
        self.init(frames: WireText(message.frames))
    }
}

extension SessionPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__session_push__unpack)
        guard let change = SessionChange(rawValue: Int(message.change.rawValue)) else { throw .undecodable }
        try self.init(
            caller: Caller(decoded: message.caller), change: change,
            channel: message.channel == nil ? nil : ChannelKey(decoded: message.channel))
    }
}
