// Written by protocol/generate_fields.py from client/presence.proto: `make generate`.

extension Schema {
    /// rtm.client.StateItem
    package enum StateItem {
        package static var key: SchemaField<String> { SchemaField(1) }
        package static var value: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.UserState
    package enum UserState {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var items: SchemaField<[StateItem]> { SchemaField(2) }
    }

    /// rtm.client.WhoNow
    package enum WhoNow {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var includeUserId: SchemaField<Bool> { SchemaField(3) }
        package static var includeState: SchemaField<Bool> { SchemaField(4) }
        package static var page: SchemaField<String> { SchemaField(5) }
    }

    /// rtm.client.OnlineUsers
    package enum OnlineUsers {
        package static var users: SchemaField<[UserState]> { SchemaField(1) }
        package static var nextPage: SchemaField<String> { SchemaField(2) }
        package static var total: SchemaField<UInt64> { SchemaField(3) }
    }

    /// rtm.client.WhereNow
    package enum WhereNow {
        package static var userId: SchemaField<String> { SchemaField(1) }
    }

    /// rtm.client.UserChannels
    package enum UserChannels {
        package static var channels: SchemaField<[UserChannel]> { SchemaField(1) }
    }

    /// rtm.client.UserChannel
    package enum UserChannel {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var name: SchemaField<String> { SchemaField(2) }
    }

    /// rtm.client.SetState
    package enum SetState {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var items: SchemaField<[StateItem]> { SchemaField(3) }
    }

    /// rtm.client.GetState
    package enum GetState {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var userId: SchemaField<String> { SchemaField(3) }
    }

    /// rtm.client.RemoveState
    package enum RemoveState {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var keys: SchemaField<[String]> { SchemaField(3) }
    }

    /// rtm.client.PresenceSnapshot
    package enum PresenceSnapshot {
        package static var channelType: SchemaField<Enumeration> { SchemaField(1) }
        package static var channel: SchemaField<String> { SchemaField(2) }
        package static var position: SchemaField<StreamPosition> { SchemaField(3) }
        package static var users: SchemaField<[UserState]> { SchemaField(4) }
        package static var more: SchemaField<Bool> { SchemaField(5) }
    }

    /// rtm.client.StateChange
    package enum StateChange {
        package static var userId: SchemaField<String> { SchemaField(1) }
        package static var items: SchemaField<[StateItem]> { SchemaField(2) }
        package static var removed: SchemaField<[String]> { SchemaField(3) }
        package static var whole: SchemaField<Bool> { SchemaField(4) }
    }

    /// rtm.client.PresenceEvent
    package enum PresenceEvent {
        package static var type: SchemaField<Enumeration> { SchemaField(1) }
        package static var interval: SchemaField<PresenceInterval> { SchemaField(3) }
        package static var states: SchemaField<StateChange> { SchemaField(4) }
    }

    /// rtm.client.PresenceInterval
    package enum PresenceInterval {
        package static var joined: SchemaField<[String]> { SchemaField(1) }
        package static var left: SchemaField<[String]> { SchemaField(2) }
        package static var timedOut: SchemaField<[String]> { SchemaField(3) }
        package static var states: SchemaField<[StateChange]> { SchemaField(5) }
    }
}
