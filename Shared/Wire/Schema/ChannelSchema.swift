// Written by protocol/generate_wire.py from client/channel.proto: `make generate`.
// swift-format-ignore-file

package import RTMModel

extension Schema {
    /// rtm.client.StreamPosition
    package enum StreamPosition {
        package static var epoch: SchemaField<UInt64> { SchemaField(1) }
        package static var offset: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.client.StateItem
    package enum StateItem {
        package static var key: SchemaField<String> { SchemaField(1) }
        package static var value: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.Subscribe
    package enum Subscribe {
        package static var channel: SchemaField<String> { SchemaField(1) }
        package static var features: SchemaField<UInt32> { SchemaField(2) }
        package static var after: SchemaField<StreamPosition> { SchemaField(3) }
        package static var requestId: SchemaField<UInt64> { SchemaField(4) }
        package static var channelType: SchemaField<Enumeration> { SchemaField(5) }
        package static var token: SchemaField<String> { SchemaField(6) }
        package static var publishers: SchemaField<[String]> { SchemaField(7) }
        package static var ownMessages: SchemaField<Bool> { SchemaField(8) }
        package static var states: SchemaField<[StateItem]> { SchemaField(9) }
    }

    /// rtm.client.Subscribed
    package enum Subscribed {
        package static var position: SchemaField<StreamPosition> { SchemaField(1) }
        package static var featuresUnavailable: SchemaField<UInt32> { SchemaField(2) }
        package static var gap: SchemaField<Bool> { SchemaField(3) }
        package static var statesSet: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.client.Unsubscribe
    package enum Unsubscribe {
        package static var channel: SchemaField<String> { SchemaField(1) }
        package static var channelType: SchemaField<Enumeration> { SchemaField(2) }
    }

    /// rtm.client.Unsubscribed
    package enum Unsubscribed {}

    /// rtm.client.Publish
    package enum Publish {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var messageType: SchemaField<Enumeration> { SchemaField(3) }
        package static var payload: SchemaField<Bytes> { SchemaField(4) }
        package static var customType: SchemaField<String> { SchemaField(5) }
        package static var storeInHistory: SchemaField<Bool> { SchemaField(6) }
        package static var sequence: SchemaField<UInt64> { SchemaField(7) }
        package static var again: SchemaField<Bool> { SchemaField(8) }
        package static var ageMs: SchemaField<UInt32> { SchemaField(9) }
        package static var epoch: SchemaField<UInt64> { SchemaField(10) }
        package static var priority: SchemaField<Enumeration> { SchemaField(11) }
        package static var origin: SchemaField<UInt64> { SchemaField(12) }
    }

    /// rtm.client.Published
    package enum Published {
        package static var offset: SchemaField<UInt64> { SchemaField(1) }
        package static var timestampMs: SchemaField<UInt64> { SchemaField(2) }
    }

    /// rtm.client.Message
    package enum Message {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var payload: SchemaField<Bytes> { SchemaField(2) }
        package static var customType: SchemaField<String> { SchemaField(3) }
        package static var priority: SchemaField<Enumeration> { SchemaField(4) }
    }

    /// rtm.client.Gap
    package enum Gap {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var position: SchemaField<StreamPosition> { SchemaField(3) }
    }
}

package enum MessageType: Int, Sendable, Hashable, CaseIterable {
    case binary = 0
    /// The payload is valid UTF-8.
    case text = 1
}

/// One temporary state of a user in a channel.
package struct StateItem: WireMessage, Sendable, Hashable {
    package typealias Fields = Schema.StateItem
    /// 1..32 bytes (L-14).
    package var key: String
    /// At most 1,024 bytes.
    package var value: String

    package init(key: String = "", value: String = "") {
        self.key = key
        self.value = value
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.key, key)
        sink.field(Fields.value, value)
    }
}

package struct Subscribed: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Subscribed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.subscribed }
    /// Delivery continues after this position.
    package var position: StreamPosition
    /// Features asked for that the server can't give at present.
    package var unavailable: SubscriptionFeatures
    /// Entries between Subscribe.after and position are lost.
    package var gap: Bool
    /// The user shows Subscribe.states; false where that is not known, so that SetState follows.
    package var hasSetStates: Bool

    package init(
        position: StreamPosition, unavailable: SubscriptionFeatures = [], gap: Bool = false,
        hasSetStates: Bool = false
    ) {
        self.position = position
        self.unavailable = unavailable
        self.gap = gap
        self.hasSetStates = hasSetStates
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.position, position)
        sink.field(Fields.featuresUnavailable, unavailable.rawValue)
        sink.field(Fields.gap, gap)
        sink.field(Fields.statesSet, hasSetStates)
    }
}

package struct Unsubscribed: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Unsubscribed
    package static var field: SchemaField<Fields> { Schema.ServerFrame.unsubscribed }

    package init() {}

    package func write(to sink: inout some FieldSink) {}
}

/// Entries between the client's position and this one are lost: they can't be delivered any more.
package struct Gap: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Gap
    package static var field: SchemaField<Fields> { Schema.ServerFrame.gap }
    package var channel: ChannelKey
    /// Delivery continues after this position.
    package var position: StreamPosition

    package init(_ channel: ChannelKey, _ position: StreamPosition) {
        self.channel = channel
        self.position = position
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.channelType, channel.type)
        sink.field(Fields.channel, channel.name)
        sink.field(Fields.position, position)
    }
}
