// Presence with the field names of the public API.

import RTMClient

extension PresenceEvent {
    var json: JSON {
        var fields: [JSON.Field] = [
            .init(name: "event", value: "presence"),
            .init(name: "type", value: .string(typeName)),
            .init(name: "channelType", value: .string("\(channelType)")),
            .init(name: "channelName", value: .string(channelName)),
        ]
        if let userID { fields.append(.init(name: "publisher", value: .string(userID))) }
        fields += contents
        fields.append(.init(name: "timestamp", value: .number(timestampMilliseconds)))
        fields.append(.init(name: "time", value: .time(timestampMilliseconds)))
        return .object(fields)
    }

    private var typeName: String {
        switch change {
        case .snapshot: "snapshot"
        case .interval: "interval"
        case .joined: "remoteJoinChannel"
        case .left: "remoteLeaveChannel"
        case .timedOut: "remoteConnectionTimeout"
        case .statesChanged: "remoteStateChanged"
        case .outage: "errorOutOfService"
        }
    }

    private var contents: [JSON.Field] {
        switch change {
        case .snapshot(let users): [.init(name: "snapshot", value: .array(users.map(\.json)))]
        case .interval(let interval): [.init(name: "interval", value: interval.json)]
        case .statesChanged(let user): [.init(name: "states", value: .states(user.states))]
        case .joined(_, let states) where !states.isEmpty:
            [.init(name: "states", value: .states(states))]
        case .joined, .left, .timedOut, .outage: []
        }
    }
}

extension PresenceInterval {
    fileprivate var json: JSON {
        [
            "joinUserList": .strings(joined), "leaveUserList": .strings(left),
            "timeoutUserList": .strings(timedOut), "userStateList": .array(states.map(\.json)),
            "totalOccupancy": .number(occupancy ?? 0),
        ]
    }
}

extension UserState {
    var json: JSON { ["userId": .string(userID), "states": .states(states)] }
}

extension UserChannel {
    var json: JSON { ["channelType": .string("\(type)"), "channelName": .string(name)] }
}

extension RosterUpdate {
    var json: JSON {
        [
            "totalOccupancy": .number(occupancy),
            "changes": .array(changes.map(\.json)), "users": .array(users.map(\.json)),
        ]
    }

    /// The users in the order of their ids.
    var users: [UserState] {
        members.map { UserState(userID: $0.key, states: $0.value) }.sorted { $0.userID < $1.userID }
    }
}

extension RosterChange {
    fileprivate var json: JSON {
        switch self {
        case .replaced: ["type": "replaced"]
        case .joined(let user): ["type": "joined", "userId": .string(user)]
        case .left(let user): ["type": "left", "userId": .string(user)]
        case .timedOut(let user): ["type": "timedOut", "userId": .string(user)]
        case .statesChanged(let user):
            ["type": "statesChanged", "userId": .string(user.userID), "states": .states(user.states)]
        case .cleared: ["type": "cleared"]
        }
    }
}

extension JSON {
    /// The states in the order of their keys.
    static func states(_ states: [String: String]) -> JSON {
        .object(
            states.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: .string($0.value)) })
    }
}
