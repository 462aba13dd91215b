import CProtobufC
package import RTMModel
import RTMProtocolC

/// A request of a client that another service answers. The edge looks at what it is about and passes it on
/// as it came; what stands in it is between the client and the service.
package struct ClientCall {
    /// By number of the field in ClientFrame.
    package enum Kind: UInt32, Sendable, Hashable, CaseIterable {
        case whoNow = 20
        case whereNow = 21
        case setState = 22
        case getState = 23
        case removeState = 24
        case writeMetadata = 30
        case getMetadata = 31
        case setLock = 40
        case removeLock = 41
        case acquireLock = 42
        case releaseLock = 43
        case revokeLock = 44
        case getLocks = 45
        case getHistory = 50
    }

    package let kind: Kind
    /// The field of ClientFrame.body, with its key.
    package let request: WireText
    /// Of the channel it is about; nil for a number that is no channel type. None for `whereNow`.
    package let channelType: ChannelType?
    /// The channel's name or, for `whereNow` and the metadata of users, the user's.
    package let target: WireText

    package init(kind: Kind, request: WireText, channelType: ChannelType?, target: WireText) {
        self.kind = kind
        self.request = request
        self.channelType = channelType
        self.target = target
    }
}

extension ClientRequest {
    /// Nil for every other request, and for a frame with several bodies, which the decoder shall sort out.
    /// What a newer protocol has beside the call is passed over.
    static func scanCall(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ClientRequest? {
        var id: UInt64 = 0
        var call: ClientCall?
        var scanner = ProtobufScanner(bytes)
        var place = 0
        while let field = try scanner.next() {
            if field.number == 1 {
                id = try field.uint64
            } else if let kind = ClientCall.Kind(rawValue: field.number) {
                guard call == nil else { return nil }
                let request = UnsafeRawBufferPointer(rebasing: bytes[place..<scanner.place])
                call = try ClientCall(kind, request: WireText(request), body: try field.bytes)
            } else if isKnown(field.number) {
                return nil
            }
            place = scanner.place
        }
        guard let call else { return nil }
        // The service hands texts out as C strings: what is refused everywhere else is refused here, too.
        let hasNul = withUnsafePointer(to: rtm__client__client_frame__descriptor) {
            TextWithNul.isPresent(in: bytes, of: $0)
        }
        guard !hasNul else { throw .undecodable }
        return ClientRequest(id: id, body: .call(call))
    }

    private static func isKnown(_ field: UInt32) -> Bool {
        withUnsafePointer(to: rtm__client__client_frame__descriptor) {
            protobuf_c_message_descriptor_get_field($0, field) != nil
        }
    }
}

extension ClientCall {
    /// Every request that is about a channel begins with its type and its name.
    fileprivate init(
        _ kind: Kind, request: WireText, body: UnsafeRawBufferPointer
    ) throws(WireError) {
        var type: Int32 = 0
        var target = WireText.empty
        let userField: UInt32? = kind == .whereNow ? 1 : nil
        var scanner = ProtobufScanner(body)
        while let field = try scanner.next() {
            switch field.number {
            case userField: target = WireText(try field.bytes)
            case 1: type = try field.int32
            case 2 where userField == nil: target = WireText(try field.bytes)
            default: break
            }
        }
        self.init(
            kind: kind, request: request, channelType: ChannelType(rawValue: Int(type)), target: target)
    }
}

/// The answer to a call: the service's field behind the request id.
package struct CallAnswer: WireMessage {
    let requestID: UInt64
    let response: WireText

    /// - Parameter response: the one field of ServerFrame.body, with its key.
    package init(answering requestID: UInt64, _ response: WireText) {
        self.requestID = requestID
        self.response = response
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, requestID)
        sink.raw(response.bytes)
    }
}
