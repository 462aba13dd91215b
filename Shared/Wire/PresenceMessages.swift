package import RTMModel

/// The messages of the presence service (protocol/schema/service/presence.proto).
package enum PresenceMethod {
    package static let join: UInt32 = 1
}

package struct JoinRequest: WireMessage, Sendable, Hashable {
    package var channel: ChannelKey
    package var userID: String
    package var session: SessionID
    package var quiet: Bool

    package init(channel: ChannelKey, userID: String, session: SessionID, quiet: Bool) {
        self.channel = channel
        self.userID = userID
        self.session = session
        self.quiet = quiet
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(1, channel)
        sink.field(2, userID)
        sink.field(3, session.rawValue)
        sink.field(4, quiet)
    }
}
