package import RTMModel

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
