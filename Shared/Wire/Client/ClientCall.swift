import CProtobufC
package import RTMModel
import RTMProtocolC

/// A request of a client that another service answers. The edge looks at what the request is about and passes
/// it on as it came; only the client and the service know the rest.
package struct ClientCall {
    /// The number is that of the field in ClientFrame.
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
    /// The type of the channel that the request is about; nil for a number that is not a channel type. It is
    /// `none` for `whereNow`.
    package let channelType: ChannelType?
    /// The name of the channel or, for `whereNow` and the metadata of users, of the user.
    package let target: WireText

    package init(kind: Kind, request: WireText, channelType: ChannelType?, target: WireText) {
        self.kind = kind
        self.request = request
        self.channelType = channelType
        self.target = target
    }
}

extension ClientCall {
    /// Who answers, and which codes say that it doesn't.
    package enum Service: String, Sendable, CaseIterable {
        case presence, metadata, locks, history
    }
}

extension ClientCall.Kind {
    package var service: ClientCall.Service {
        switch self {
        case .whoNow, .whereNow, .setState, .getState, .removeState: .presence
        case .writeMetadata, .getMetadata: .metadata
        case .setLock, .removeLock, .acquireLock, .releaseLock, .revokeLock, .getLocks: .locks
        case .getHistory: .history
        }
    }

    /// Whether the call changes nothing.
    package var isQuery: Bool {
        switch self {
        case .whoNow, .whereNow, .getState, .getMetadata, .getLocks, .getHistory: true
        case .setState, .removeState, .writeMetadata, .setLock, .removeLock, .acquireLock, .releaseLock,
            .revokeLock:
            false
        }
    }
}

extension ClientRequest {
    /// Returns nil for every other request, and for a frame with several bodies, which the decoder sorts out.
    /// Fields of a newer protocol beside the call are skipped.
    static func scanCall(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ClientRequest? {
        var id: UInt64 = 0
        var call: ClientCall?
        var scanner = ProtobufScanner(bytes)
        var offset = 0
        while let field = try scanner.next() {
            if field.number == Schema.ClientFrame.requestId.number {
                id = try field.uint64
            } else if let kind = ClientCall.Kind(rawValue: field.number) {
                guard call == nil else { return nil }
                let request = UnsafeRawBufferPointer(rebasing: bytes[offset..<scanner.offset])
                call = try ClientCall(kind, request: WireText(request), body: try field.bytes)
            } else if isKnown(field.number) {
                return nil
            }
            offset = scanner.offset
        }
        guard let call else { return nil }
        // The service hands out texts as C strings. A NUL is refused everywhere else, so it is refused here,
        // too.
        let hasNul = withUnsafePointer(to: rtm__client__client_frame__descriptor) {
            TextWithNul.isPresent(in: bytes, of: $0)
        }
        guard !hasNul else { throw .textWithNul }
        return ClientRequest(id: id, body: .call(call))
    }

    private static func isKnown(_ field: UInt32) -> Bool {
        withUnsafePointer(to: rtm__client__client_frame__descriptor) {
            protobuf_c_message_descriptor_get_field($0, field) != nil
        }
    }
}

extension ClientCall {
    /// Every request that is about a channel begins with its type and its name (a test holds the schema to
    /// it).
    fileprivate init(
        _ kind: Kind, request: WireText, body: UnsafeRawBufferPointer
    ) throws(WireError) {
        typealias Fields = Schema.GetState
        var type = 0
        var target = WireText.empty
        let isAboutUser = kind == .whereNow
        var scanner = ProtobufScanner(body)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.WhereNow.userId where isAboutUser: target = try field.view
            case Fields.channelType: type = try field.enumeration
            case Fields.channel where !isAboutUser: target = try field.view
            default: break
            }
        }
        self.init(kind: kind, request: request, channelType: ChannelType(rawValue: type), target: target)
    }
}

extension ClientCall {
    /// The call of a ClientFrame that a service of ours has written.
    ///
    /// - Returns: what `body` makes of it; nil if the frame has no call.
    package static func inside<Result>(
        _ frame: UnsafeRawBufferPointer, _ body: (ClientCall) throws -> Result
    ) throws -> Result? {
        guard case .call(let call)? = try ClientRequest.scanCall(frame)?.body else { return nil }
        return try body(call)
    }
}
