import CProtobufC
import RTMModel
import RTMProtocolC

extension ClientRequest {
    /// Decodes one ClientFrame. The result lives in the arena until its next message, or in `bytes`.
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        arena.reset()
        guard
            let frame = rtm__client__client_frame__unpack(
                arena.allocator, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)),
            !TextWithNul.isPresent(in: bytes, of: frame.pointee.base.descriptor)
        else { throw .undecodable }
        id = frame.pointee.request_id
        body = Body(frame.pointee)
    }
}

extension ClientRequest.Body {
    fileprivate init(_ frame: Rtm__Client__ClientFrame) {
        switch frame.body_case {
        case RTM__CLIENT__CLIENT_FRAME__BODY_HELLO:
            let hello = frame.hello.pointee
            self = .hello(
                .init(
                    versionMin: hello.version_min, versionMax: hello.version_max,
                    client: WireText(hello.client)))
        case RTM__CLIENT__CLIENT_FRAME__BODY_LOGIN:
            self = .login(ClientRequest.Login(frame.login.pointee))
        case RTM__CLIENT__CLIENT_FRAME__BODY_LOGOUT:
            self = .logout
        case RTM__CLIENT__CLIENT_FRAME__BODY_HEARTBEAT:
            self = .heartbeat
        case RTM__CLIENT__CLIENT_FRAME__BODY_SUBSCRIBE:
            let subscribe = frame.subscribe.pointee
            self = .subscribe(
                .init(
                    channel: WireText(subscribe.channel),
                    features: SubscriptionFeatures(rawValue: subscribe.features),
                    after: StreamPosition(subscribe.after)))
        case RTM__CLIENT__CLIENT_FRAME__BODY_UNSUBSCRIBE:
            self = .unsubscribe(channel: WireText(frame.unsubscribe.pointee.channel))
        case RTM__CLIENT__CLIENT_FRAME__BODY_PUBLISH:
            self = .publish(ClientRequest.Publish(frame.publish.pointee))
        default:
            self = .unknown
        }
    }
}

extension ClientRequest.Login {
    fileprivate init(_ login: Rtm__Client__Login) {
        appID = WireText(login.app_id)
        userID = WireText(login.user_id)
        token = WireText(login.token)
        heartbeatIntervalSeconds = login.heartbeat_interval_s
        presenceTimeoutSeconds = login.presence_timeout_s
    }
}

extension ClientRequest.Publish {
    fileprivate init(_ publish: Rtm__Client__Publish) {
        channelType = ChannelType(rawValue: Int(publish.channel_type.rawValue))
        channel = WireText(publish.channel)
        message = MessageView(
            type: MessageType(rawValue: Int(publish.message_type.rawValue)),
            payload: WireText(publish.payload), customType: WireText(publish.custom_type))
        storeInHistory = publish.store_in_history != 0
    }
}

extension WireText {
    init(_ bytes: ProtobufCBinaryData) {
        self.init(UnsafeRawBufferPointer(start: bytes.data, count: bytes.len))
    }
}

extension StreamPosition {
    init?(_ position: UnsafeMutablePointer<Rtm__Client__StreamPosition>?) {
        guard let position else { return nil }
        self.init(epoch: position.pointee.epoch, offset: position.pointee.offset)
    }
}
