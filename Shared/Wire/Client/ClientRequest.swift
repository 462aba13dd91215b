package import RTMModel

/// A request of a client to an edge, decoded in place: texts and payloads are views that end with the arena's
/// next message.
package struct ClientRequest {
    package let id: UInt64
    package let body: Body

    package enum Body {
        case hello(Hello)
        case login(Login)
        case renewToken(RenewToken)
        case logout
        case heartbeat
        case subscribe(Subscribe)
        case unsubscribe(Unsubscribe)
        case publish(Publish)
        case call(ClientCall)
        case subscribeUserMetadata(SubscribeUserMetadata)
        case unsubscribeUserMetadata(userID: WireText)
        /// A request of a protocol that is newer than ours.
        case unknown
    }

    package struct Hello {
        package let versionMin: UInt32
        package let versionMax: UInt32
        package let client: WireText
    }

    package struct Login {
        package let appID: WireText
        package let userID: WireText
        package let token: WireText
        package let heartbeatIntervalSeconds: UInt32
        package let presenceTimeoutSeconds: UInt32
        package let inboxAfter: StreamPosition?
        /// The number of the client object, which it keeps over its reconnections; 0 = unknown.
        package let instance: UInt64
        /// How many logins the instance has tried, this one included; 0 = not counted.
        package let attempt: UInt64
        /// For a login that comes back: whether the app has asked for it.
        package let isAsked: Bool
        /// The decoded message, where what is to be subscribed lies; nil for nothing. Two lists beside the
        /// fields above would make every request, a publish too, longer than the 128 bytes that are copied in
        /// place.
        let message: UnsafeRawPointer?
    }

    package struct RenewToken {
        package let token: WireText
        /// The stream channel whose token it is; empty for the token of the session.
        package let channel: WireText

        package init(token: WireText, channel: WireText = .empty) {
            self.token = token
            self.channel = channel
        }
    }

    package struct Subscribe {
        /// Nil for a number that is not a channel type.
        package let channelType: ChannelType?
        package let channel: WireText
        package let features: SubscriptionFeatures
        package let after: StreamPosition?
        /// Within a login: what the answer carries. Otherwise 0.
        package let requestID: UInt64
        /// What lets the user join a stream channel.
        package let token: WireText
        /// Whether the subscriber of a message channel receives its own messages.
        package let ownMessages: Bool
        /// The decoded message, where the lists lie, for the reason that `Login` gives; nil for nothing.
        let message: UnsafeRawPointer?
    }

    package struct Unsubscribe {
        /// Nil for a number that is not a channel type.
        package let channelType: ChannelType?
        package let channel: WireText
    }

    package struct SubscribeUserMetadata {
        package let userID: WireText
        package let after: StreamPosition?
        /// Within a login: what the answer carries. Otherwise 0.
        package let requestID: UInt64
    }

    package struct Publish {
        /// Nil for a number that is not a channel type.
        package let channelType: ChannelType?
        package let channel: WireText
        package let message: MessageView
        package let storeInHistory: Bool
        /// Who counts the publishes; 0 = the client's instance.
        package let origin: UInt64
        /// The publish's number at its origin; 0 = the client will not send it again.
        package let sequence: UInt64
        /// How many milliseconds ago this was sent first; nil if it is sent for the first time.
        package let againAfter: UInt32?
        /// For what was sent before: the epoch of the inbox, as the client knew it then; 0 = unknown.
        package let epoch: UInt64

        package init(
            channelType: ChannelType?, channel: WireText, message: MessageView, storeInHistory: Bool,
            origin: UInt64 = 0, sequence: UInt64 = 0, againAfter: UInt32? = nil, epoch: UInt64 = 0
        ) {
            self.channelType = channelType
            self.channel = channel
            self.message = message
            self.storeInHistory = storeInHistory
            self.origin = origin
            self.sequence = sequence
            self.againAfter = againAfter
            self.epoch = epoch
        }
    }
}
