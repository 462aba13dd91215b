import RTMModel
import RTMWire

@testable import RTMMessagingServer

extension EmbeddedBroker.Limits {
    static func limits(
        entriesMax: Int = 1000, bytesMax: Int = 1 << 20, ageMax: UInt64 = 120_000, idleMax: UInt64 = 120_000,
        channelsMax: Int = 1000
    ) -> Self {
        .init(
            retention: .init(entriesMax: entriesMax, bytesMax: bytesMax, ageMax: ageMax), idleMax: idleMax,
            channelsMax: channelsMax)
    }
}

extension ChannelKey {
    static func message(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .message, name: name) }
    static func user(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .user, name: name) }
}

extension EmbeddedBroker {
    mutating func publish(
        _ text: String, to key: ChannelKey, by publisher: String = "anna", session: UInt64 = 0,
        needsReceiver: Bool = false, now: UInt64
    ) throws(RTMError) -> Appended {
        let texts = [key.appID, key.name, publisher, text].map { Array($0.utf8) }
        let result: Result<Appended, RTMError> = texts[0].withWireText { appID in
            texts[1].withWireText { name in
                texts[2].withWireText { publisher in
                    texts[3].withWireText { payload in
                        Result { () throws(RTMError) in
                            try publish(
                                PublishRequest(
                                    appID: appID, channelType: key.type, channel: name, publisher: publisher,
                                    publisherSession: session, needsReceiver: needsReceiver,
                                    message: MessageView(type: .text, payload: payload, customType: payload)),
                                now: now)
                        }
                    }
                }
            }
        }
        return try result.get()
    }

    mutating func read(
        _ key: ChannelKey, after: StreamPosition, except publisher: String = "",
        features: SubscriptionFeatures = .all, bytesMax: Int = 1 << 20, now: UInt64
    ) throws(RTMError) -> Page {
        let request = ReadRequest(
            channel: key, after: after, exceptPublisher: publisher, features: features)
        return try read(request, bytesMax: bytesMax, now: now)
    }
}

extension [UInt8] {
    fileprivate func withWireText<Result>(_ body: (WireText) -> Result) -> Result {
        withUnsafeBytes { body(WireText($0)) }
    }
}
