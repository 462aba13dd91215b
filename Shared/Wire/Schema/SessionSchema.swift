// Written by protocol/generate_fields.py from client/session.proto: `make generate`.

extension Schema {
    /// rtm.client.Hello
    package enum Hello {
        package static var versionMin: SchemaField<UInt32> { SchemaField(1) }
        package static var versionMax: SchemaField<UInt32> { SchemaField(2) }
        package static var client: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.client.Welcome
    package enum Welcome {
        package static var version: SchemaField<UInt32> { SchemaField(1) }
        package static var serverTimeMs: SchemaField<UInt64> { SchemaField(2) }
        package static var frameBytesMax: SchemaField<UInt32> { SchemaField(3) }
        package static var server: SchemaField<String> { SchemaField(4) }
        package static var handshakeTimeoutMs: SchemaField<UInt32> { SchemaField(5) }
    }

    /// rtm.client.Login
    package enum Login {
        package static var appId: SchemaField<String> { SchemaField(1) }
        package static var userId: SchemaField<String> { SchemaField(2) }
        package static var token: SchemaField<String> { SchemaField(3) }
        package static var heartbeatIntervalS: SchemaField<UInt32> { SchemaField(4) }
        package static var presenceTimeoutS: SchemaField<UInt32> { SchemaField(5) }
        package static var inboxAfter: SchemaField<StreamPosition> { SchemaField(6) }
        package static var instance: SchemaField<UInt64> { SchemaField(7) }
        package static var attempt: SchemaField<UInt64> { SchemaField(8) }
        package static var asked: SchemaField<Bool> { SchemaField(9) }
        package static var subscriptions: SchemaField<[Subscribe]> { SchemaField(10) }
        package static var followedUsers: SchemaField<[SubscribeUserMetadata]> { SchemaField(11) }
    }

    /// rtm.client.LoggedIn
    package enum LoggedIn {
        package static var sessionId: SchemaField<UInt64> { SchemaField(1) }
        package static var serverTimeMs: SchemaField<UInt64> { SchemaField(2) }
        package static var heartbeatIntervalS: SchemaField<UInt32> { SchemaField(3) }
        package static var heartbeatGraceS: SchemaField<UInt32> { SchemaField(4) }
        package static var inboxPosition: SchemaField<StreamPosition> { SchemaField(5) }
        package static var inboxGap: SchemaField<Bool> { SchemaField(6) }
        package static var subscriptions: SchemaField<UInt32> { SchemaField(7) }
        package static var followedUsers: SchemaField<UInt32> { SchemaField(8) }
        package static var publishRates: SchemaField<PublishRates> { SchemaField(9) }
    }

    /// rtm.client.PublishRates
    package enum PublishRates {
        package static var targetMessages: SchemaField<UInt32> { SchemaField(1) }
        package static var sessionMessages: SchemaField<UInt32> { SchemaField(2) }
        package static var sessionBytes: SchemaField<UInt64> { SchemaField(3) }
        package static var topicMessages: SchemaField<UInt32> { SchemaField(4) }
    }

    /// rtm.client.RenewToken
    package enum RenewToken {
        package static var token: SchemaField<String> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.TokenRenewed
    package enum TokenRenewed {}

    /// rtm.client.TokenWillExpire
    package enum TokenWillExpire {
        package static var remainingMs: SchemaField<UInt32> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.ChannelEnded
    package enum ChannelEnded {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var error: SchemaField<Error> { SchemaField(3) }
    }

    /// rtm.client.Done
    package enum Done {}

    /// rtm.client.Logout
    package enum Logout {}

    /// rtm.client.LoggedOut
    package enum LoggedOut {}

    /// rtm.client.Heartbeat
    package enum Heartbeat {}

    /// rtm.client.HeartbeatAck
    package enum HeartbeatAck {
        package static var serverTimeMs: SchemaField<UInt64> { SchemaField(1) }
    }

    /// rtm.client.Disconnect
    package enum Disconnect {
        package static var code: SchemaField<Enumeration> { SchemaField(1) }
        package static var reason: SchemaField<String> { SchemaField(2) }
        package static var retryAfterMs: SchemaField<UInt32> { SchemaField(3) }
    }
}
