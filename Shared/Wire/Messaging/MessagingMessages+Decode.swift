import CProtobufC
import RTMModel
import RTMProtocolC

extension AttachRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__attach_request__unpack)
        try self.init(
            channel: ChannelKey(decoded: message.channel), interest: message.interest,
            after: StreamPosition(message.after),
            claim: message.exclusive != 0 ? message.claim : nil,
            holder: message.exclusive != 0 ? message.holder : 0,
            returns: message.exclusive != 0 && message.returns != 0,
            attempt: message.exclusive != 0 ? message.attempt : 0)
    }
}

extension AttachResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__attach_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(position: position, claim: message.claim)
    }
}

extension SkipPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__skip_push__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            interest: message.interest, position: position,
            features: SubscriptionFeatures(rawValue: message.features))
    }
}

extension LeadPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__lead_push__unpack)
        self.init(term: message.term, follows: message.follows)
    }
}

extension NodesPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__nodes_push__unpack)
        var nodes: [NodeAddress] = []
        for index in 0..<message.n_nodes {
            guard let node = message.nodes[index]?.pointee else { throw .undecodable }
            nodes.append(NodeAddress(host: WireText(node.host).string, port: node.port))
        }
        self.init(nodes: nodes)
    }
}

extension SupersededPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__superseded_push__unpack)
        self.init(interest: message.interest, holder: message.holder)
    }
}

extension DetachPush: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__detach_push__unpack)
        self.init(interest: message.interest, isLoggedOut: message.logged_out != 0)
    }
}

extension ReadRequest: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__read_request__unpack)
        guard let after = StreamPosition(message.after) else { throw .undecodable }
        try self.init(
            channel: ChannelKey(decoded: message.channel), after: after,
            exceptPublisher: WireText(message.except_publisher).string,
            features: SubscriptionFeatures(rawValue: message.features))
    }
}

extension ReadResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__read_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(
            frames: WireText(message.frames), position: position, gap: message.gap != 0,
            more: message.more != 0)
    }
}

extension AppendResponse: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let message = try Self.unpack(bytes, in: arena, with: rtm__service__append_response__unpack)
        guard let position = StreamPosition(message.position) else { throw .undecodable }
        self.init(position: position, timestampMilliseconds: message.timestamp_ms)
    }
}

extension ChannelKey {
    init(decoded key: UnsafeMutablePointer<Rtm__Service__ChannelKey>?) throws(WireError) {
        guard let key = key?.pointee, let type = ChannelType(rawValue: Int(key.type.rawValue)) else {
            throw .undecodable
        }
        self.init(appID: WireText(key.app_id).string, type: type, name: WireText(key.name).string)
    }
}
