import CProtobufC
package import RTMModel
import RTMProtocolC

/// What clients ask of presence (protocol/schema/client/presence.proto, fields 20 to 24 of ClientFrame).
/// Texts are views that live until the arena's next message.
package enum PresenceCall {
    case whoNow(WhoNow)
    case whereNow(userID: WireText)
    case setState(channel: PresenceChannel, items: [(key: WireText, value: WireText)])
    case getState(channel: PresenceChannel, userID: WireText)
    case removeState(channel: PresenceChannel, keys: [WireText])
    /// The request is not one to presence.
    case unknown

    package struct WhoNow {
        package let channel: PresenceChannel
        package let includesUserID: Bool
        package let includesState: Bool
        package let page: WireText
    }
}

/// A channel as a client names it, which is within the client's own app.
package struct PresenceChannel {
    /// Nil for a number that is not a channel type.
    package let type: ChannelType?
    package let name: WireText

    package init(type: ChannelType?, name: WireText) {
        self.type = type
        self.name = name
    }
}

// MARK: - Reading

/// Reads what a CallRequest carries: the one field of ClientFrame.body, with its key. That is a ClientFrame
/// without its request id.
extension PresenceCall: ArenaDecodable {
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {
        let frame = try Self.unpack(bytes, in: arena, with: rtm__client__client_frame__unpack)
        guard !TextWithNul.isPresent(in: bytes, of: frame.base.descriptor) else { throw .textWithNul }
        switch frame.body_case {
        case RTM__CLIENT__CLIENT_FRAME__BODY_WHO_NOW:
            self = .whoNow(WhoNow(frame.who_now.pointee))
        case RTM__CLIENT__CLIENT_FRAME__BODY_WHERE_NOW:
            self = .whereNow(userID: WireText(frame.where_now.pointee.user_id))
        case RTM__CLIENT__CLIENT_FRAME__BODY_SET_STATE:
            let call = frame.set_state.pointee
            self = .setState(
                channel: PresenceChannel(call.channel_type, call.channel),
                items: try Self.items(call.items, call.n_items))
        case RTM__CLIENT__CLIENT_FRAME__BODY_GET_STATE:
            let call = frame.get_state.pointee
            self = .getState(
                channel: PresenceChannel(call.channel_type, call.channel), userID: WireText(call.user_id))
        case RTM__CLIENT__CLIENT_FRAME__BODY_REMOVE_STATE:
            let call = frame.remove_state.pointee
            self = .removeState(
                channel: PresenceChannel(call.channel_type, call.channel),
                keys: (0..<call.n_keys).map { WireText(call.keys[$0]) })
        default:
            self = .unknown
        }
    }

    private static func items(
        _ items: UnsafeMutablePointer<UnsafeMutablePointer<Rtm__Client__StateItem>?>?, _ count: Int
    ) throws(WireError) -> [(key: WireText, value: WireText)] {
        guard let items else { return [] }
        var texts: [(key: WireText, value: WireText)] = []
        texts.reserveCapacity(count)
        for index in 0..<count {
            guard let item = items[index]?.pointee else { throw .undecodable }
            texts.append((WireText(item.key), WireText(item.value)))
        }
        return texts
    }
}

extension PresenceCall.WhoNow {
    fileprivate init(_ call: Rtm__Client__WhoNow) {
        channel = PresenceChannel(call.channel_type, call.channel)
        includesUserID = call.include_user_id != 0
        includesState = call.include_state != 0
        page = WireText(call.page)
    }
}

extension PresenceChannel {
    fileprivate init(_ type: Rtm__Client__ChannelType, _ name: UnsafeMutablePointer<CChar>?) {
        self.init(type: ChannelType(rawValue: Int(type.rawValue)), name: WireText(name))
    }
}
