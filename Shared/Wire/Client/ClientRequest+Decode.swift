import CProtobufC
import RTMModel
import RTMProtocolC

extension ClientRequest {
    /// Decodes one ClientFrame. The result lives in the arena until its next message, or in `bytes`.
    ///
    /// Publishes are as many as all other requests together, so they are scanned where they lie. So is what
    /// is only passed on.
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        if let publish = try Self.scanPublish(bytes) {
            self = publish
            return
        }
        if let call = try Self.scanCall(bytes) {
            self = call
            return
        }
        arena.reset()
        guard
            let frame = rtm__client__client_frame__unpack(
                arena.allocator, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        else { throw .undecodable }
        guard !TextWithNul.isPresent(in: bytes, of: frame.pointee.base.descriptor) else {
            throw .textWithNul
        }
        id = frame.pointee.request_id
        body = Body(frame.pointee)
    }
}

// MARK: - Publish

extension ClientRequest {
    /// Returns nil for every other request, and for a frame with several bodies, which the decoder sorts out.
    private static func scanPublish(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> ClientRequest? {
        var id: UInt64 = 0
        var body: UnsafeRawBufferPointer?
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.ClientFrame.requestId: id = try field.uint64
            case Schema.ClientFrame.publish where body == nil: body = try field.bytes
            default: return nil
            }
        }
        guard let body else { return nil }
        return ClientRequest(id: id, body: .publish(try Publish(scanning: body)))
    }
}

extension ClientRequest.Publish: ScanDecodable {
    package init(scanning bytes: UnsafeRawBufferPointer) throws(WireError) {
        var channelType = 0
        var channel = WireText.empty
        var messageType = 0
        var payload = WireText.empty
        var customType = WireText.empty
        var storeInHistory = false
        var origin: UInt64 = 0
        var sequence: UInt64 = 0
        var isAgain = false
        var age: UInt32 = 0
        var epoch: UInt64 = 0
        var priority = TopicPriority.normal
        var scanner = ProtobufScanner(bytes)
        while let field = try scanner.next() {
            switch field.number {
            case Schema.Publish.channelType: channelType = try field.enumeration
            case Schema.Publish.channel: channel = try field.view.refusingNul()
            case Schema.Publish.messageType: messageType = try field.enumeration
            case Schema.Publish.payload: payload = try field.view
            case Schema.Publish.customType: customType = try field.view.refusingNul()
            case Schema.Publish.storeInHistory: storeInHistory = try field.bool
            case Schema.Publish.sequence: sequence = try field.uint64
            case Schema.Publish.origin: origin = try field.uint64
            case Schema.Publish.again: isAgain = try field.bool
            case Schema.Publish.ageMs: age = try field.uint32
            case Schema.Publish.epoch: epoch = try field.uint64
            case Schema.Publish.priority: priority = TopicPriority(wire: try field.enumeration)
            default: break
            }
        }
        self.init(
            channelType: ChannelType(rawValue: channelType), channel: channel,
            message: MessageView(
                type: MessageType(rawValue: messageType), payload: payload, customType: customType,
                priority: priority),
            storeInHistory: storeInHistory, origin: origin, sequence: sequence,
            againAfter: isAgain ? age : nil, epoch: epoch)
    }
}

// MARK: - The rest

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
            self = .login(ClientRequest.Login(frame.login))
        case RTM__CLIENT__CLIENT_FRAME__BODY_LOGOUT:
            self = .logout
        case RTM__CLIENT__CLIENT_FRAME__BODY_HEARTBEAT:
            self = .heartbeat
        case RTM__CLIENT__CLIENT_FRAME__BODY_SUBSCRIBE:
            self = .subscribe(ClientRequest.Subscribe(at: frame.subscribe))
        case RTM__CLIENT__CLIENT_FRAME__BODY_UNSUBSCRIBE:
            let unsubscribe = frame.unsubscribe.pointee
            self = .unsubscribe(
                ClientRequest.Unsubscribe(
                    channelType: ChannelType(subscribed: unsubscribe.channel_type),
                    channel: WireText(unsubscribe.channel)))
        case RTM__CLIENT__CLIENT_FRAME__BODY_PUBLISH:
            self = .publish(ClientRequest.Publish(frame.publish.pointee))
        case RTM__CLIENT__CLIENT_FRAME__BODY_RENEW_TOKEN:
            let renewToken = frame.renew_token.pointee
            self = .renewToken(
                ClientRequest.RenewToken(
                    token: WireText(renewToken.token), channel: WireText(renewToken.channel)))
        case RTM__CLIENT__CLIENT_FRAME__BODY_SUBSCRIBE_USER_METADATA:
            self = .subscribeUserMetadata(
                ClientRequest.SubscribeUserMetadata(frame.subscribe_user_metadata.pointee))
        case RTM__CLIENT__CLIENT_FRAME__BODY_UNSUBSCRIBE_USER_METADATA:
            self = .unsubscribeUserMetadata(
                userID: WireText(frame.unsubscribe_user_metadata.pointee.user_id))
        default:
            self = .unknown
        }
    }
}

extension ClientRequest.Login {
    fileprivate init(_ message: UnsafePointer<Rtm__Client__Login>) {
        let login = message.pointee
        appID = WireText(login.app_id)
        userID = WireText(login.user_id)
        token = WireText(login.token)
        heartbeatIntervalSeconds = login.heartbeat_interval_s
        presenceTimeoutSeconds = login.presence_timeout_s
        inboxAfter = StreamPosition(login.inbox_after)
        instance = login.instance
        attempt = login.attempt
        isAsked = login.asked != 0
        self.message = UnsafeRawPointer(message)
    }

    /// What is subscribed when the login is accepted.
    package var subscriptions: WireList<ClientRequest.Subscribe> {
        lists.map { WireList($0.subscriptions, count: $0.n_subscriptions) } ?? WireList()
    }

    /// The users whose metadata is subscribed then.
    package var followedUsers: WireList<ClientRequest.SubscribeUserMetadata> {
        lists.map { WireList($0.followed_users, count: $0.n_followed_users) } ?? WireList()
    }

    private var lists: Rtm__Client__Login? {
        message?.assumingMemoryBound(to: Rtm__Client__Login.self).pointee
    }
}

extension ClientRequest.Subscribe: WireListElement {
    package init(at message: UnsafeRawPointer) {
        let subscribe = message.assumingMemoryBound(to: Rtm__Client__Subscribe.self).pointee
        self.init(
            channelType: ChannelType(subscribed: subscribe.channel_type),
            channel: WireText(subscribe.channel),
            features: SubscriptionFeatures(rawValue: subscribe.features),
            after: StreamPosition(subscribe.after), requestID: subscribe.request_id,
            token: WireText(subscribe.token), ownMessages: subscribe.own_messages != 0, message: message)
    }

    /// Whose messages of a topic are delivered.
    package var publishers: WireTexts {
        lists.map { WireTexts($0.publishers, count: $0.n_publishers) } ?? WireTexts()
    }

    /// What the subscriber shows from its join on.
    package var states: WireList<StateItemView> {
        lists.map { WireList($0.states, count: $0.n_states) } ?? WireList()
    }

    private var lists: Rtm__Client__Subscribe? {
        message?.assumingMemoryBound(to: Rtm__Client__Subscribe.self).pointee
    }
}

extension ChannelType {
    /// The type of what is subscribed. A client that names none means a message channel.
    fileprivate init?(subscribed type: Rtm__Client__ChannelType) {
        self.init(rawValue: Int(type.rawValue))
        if self == .none { self = .message }
    }
}

extension ClientRequest.SubscribeUserMetadata: WireListElement {
    package init(at message: UnsafeRawPointer) {
        self.init(message.assumingMemoryBound(to: Rtm__Client__SubscribeUserMetadata.self).pointee)
    }

    fileprivate init(_ subscribe: Rtm__Client__SubscribeUserMetadata) {
        self.init(
            userID: WireText(subscribe.user_id), after: StreamPosition(subscribe.after),
            requestID: subscribe.request_id)
    }
}

extension ClientRequest.Publish {
    fileprivate init(_ publish: Rtm__Client__Publish) {
        channelType = ChannelType(rawValue: Int(publish.channel_type.rawValue))
        channel = WireText(publish.channel)
        message = MessageView(
            type: MessageType(rawValue: Int(publish.message_type.rawValue)),
            payload: WireText(publish.payload), customType: WireText(publish.custom_type),
            priority: TopicPriority(wire: Int(publish.priority.rawValue)))
        storeInHistory = publish.store_in_history != 0
        origin = publish.origin
        sequence = publish.sequence
        againAfter = publish.again != 0 ? publish.age_ms : nil
        epoch = publish.epoch
    }
}
