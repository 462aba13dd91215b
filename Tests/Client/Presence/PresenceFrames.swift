import RTMProtocol
import SwiftProtobuf

// What an edge sends about presence.

extension Rtm_Client_ServerFrame {
    static func snapshot(
        _ channel: String, at offset: UInt64, _ users: [Rtm_Client_UserState], more: Bool = false
    ) -> Rtm_Client_ServerFrame {
        .with {
            $0.presenceSnapshot.channelType = .message
            $0.presenceSnapshot.channel = channel
            $0.presenceSnapshot.position = .with { ($0.epoch, $0.offset) = (1, offset) }
            $0.presenceSnapshot.users = users
            $0.presenceSnapshot.more = more
        }
    }

    static func presence(
        _ channel: String, offset: UInt64, _ type: Rtm_Client_PresenceEventType, of user: String,
        _ states: [String: String] = [:]
    ) -> Rtm_Client_ServerFrame {
        .with { $0.publication = .presence(channel, offset, type, of: user, states) }
    }
}

extension Rtm_Client_Publication {
    static func presence(
        _ channel: String, _ offset: UInt64, _ type: Rtm_Client_PresenceEventType, of user: String,
        _ states: [String: String] = [:]
    ) -> Rtm_Client_Publication {
        .with {
            $0.channelType = .message
            $0.channel = channel
            $0.offset = offset
            $0.timestampMs = 1_790_000_000_000 + offset
            $0.publisher = user
            $0.presence.type = type
            if type == .presenceEventRemoteStateChanged { $0.presence.states.items = .states(states) }
        }
    }
}

extension Rtm_Client_UserState {
    static func user(_ userID: String, _ states: [String: String] = [:]) -> Rtm_Client_UserState {
        .with { ($0.userID, $0.items) = (userID, .states(states)) }
    }

    var states: [String: String] { items.states }
}

extension [Rtm_Client_StateItem] {
    static func states(_ states: [String: String]) -> [Rtm_Client_StateItem] {
        states.sorted { $0.key < $1.key }.map { item in .with { ($0.key, $0.value) = (item.key, item.value) }
        }
    }

    var states: [String: String] { Dictionary(map { ($0.key, $0.value) }) { $1 } }
}

extension Rtm_Client_ClientFrame {
    var isWhoNow: Bool { if case .whoNow = body { true } else { false } }
    var isSetState: Bool { if case .setState = body { true } else { false } }
    var isGetState: Bool { if case .getState = body { true } else { false } }

    var isPresenceCall: Bool {
        switch body {
        case .whoNow, .whereNow, .setState, .getState, .removeState: true
        default: false
        }
    }
}
