import RTMModel
import RTMProtocol
import SwiftProtobuf

extension UserState {
    init(_ user: Rtm_Client_UserState) {
        self.init(userID: user.userID, states: Dictionary(user.items.map { ($0.key, $0.value) }) { $1 })
    }
}

extension PresenceUpdate.Change {
    /// `nil` for a kind of event that only newer servers know.
    init?(_ event: Rtm_Client_PresenceEvent, publisher: String) {
        switch event.type {
        case .presenceEventRemoteJoin:
            self = event.hasStates ? .joinedWithStates(publisher) : .joined(publisher)
        case .presenceEventRemoteLeave: self = .left(publisher)
        case .presenceEventRemoteTimeout: self = .timedOut(publisher)
        case .presenceEventRemoteStateChanged: self = .states(.init(event.states, of: publisher))
        case .presenceEventInterval:
            let interval = event.interval
            self = .interval(
                .init(
                    joined: interval.joined, left: interval.left, timedOut: interval.timedOut,
                    states: interval.states.map { .init($0, of: $0.userID) }))
        case .presenceEventNone, .UNRECOGNIZED: return nil
        }
    }
}

extension PresenceUpdate.StateChange {
    fileprivate init(_ change: Rtm_Client_StateChange, of user: String) {
        self.init(
            userID: user, items: Dictionary(change.items.map { ($0.key, $0.value) }) { $1 },
            removed: change.removed, isWhole: change.whole)
    }
}

extension Rtm_Client_SetState {
    init(_ items: [String: String], in channel: ChannelID) {
        self.init()
        channelType = .init(channel.type)
        self.channel = channel.name
        self.items = .init(items)
    }
}

extension [Rtm_Client_StateItem] {
    init(_ states: [String: String]) {
        self = states.sorted { $0.key < $1.key }.map { item in
            .with { ($0.key, $0.value) = (item.key, item.value) }
        }
    }
}

extension Rtm_Client_RemoveState {
    /// - Parameter keys: no key means all of them.
    init(_ keys: [String], in channel: ChannelID) {
        self.init()
        channelType = .init(channel.type)
        self.channel = channel.name
        self.keys = keys
    }
}

extension Rtm_Client_GetState {
    init(_ userID: String, in channel: ChannelID) {
        self.init()
        channelType = .init(channel.type)
        self.channel = channel.name
        self.userID = userID
    }
}
