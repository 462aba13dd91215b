import RTMModel
import RTMProtocol
import SwiftProtobuf

extension UserState {
    init(_ user: Rtm_Client_UserState) {
        self.init(userID: user.userID, states: Dictionary(user.items.map { ($0.key, $0.value) }) { $1 })
    }
}

extension PresenceEvent.Change {
    /// `nil` for a kind of event that only newer servers know.
    init?(_ event: Rtm_Client_PresenceEvent, publisher: String) {
        switch event.type {
        case .presenceEventRemoteJoin: self = .remoteJoin(userID: publisher)
        case .presenceEventRemoteLeave: self = .remoteLeave(userID: publisher)
        case .presenceEventRemoteTimeout: self = .remoteTimeout(userID: publisher)
        case .presenceEventRemoteStateChanged:
            let states = Dictionary(event.items.map { ($0.key, $0.value) }) { $1 }
            self = .remoteStateChanged(UserState(userID: publisher, states: states))
        case .presenceEventInterval:
            let interval = event.interval
            self = .interval(
                PresenceInterval(
                    joined: interval.joined, left: interval.left, timedOut: interval.timedOut,
                    states: interval.states.map(UserState.init)))
        case .presenceEventNone, .UNRECOGNIZED: return nil
        }
    }
}

extension Rtm_Client_SetState {
    init(_ items: [String: String], in channel: UserChannel) {
        self.init()
        channelType = .init(channel.type)
        self.channel = channel.name
        self.items = items.sorted { $0.key < $1.key }.map { item in
            .with { ($0.key, $0.value) = (item.key, item.value) }
        }
    }
}

extension Rtm_Client_RemoveState {
    /// - Parameter keys: no key means all of them.
    init(_ keys: [String], in channel: UserChannel) {
        self.init()
        channelType = .init(channel.type)
        self.channel = channel.name
        self.keys = keys
    }
}

extension Rtm_Client_GetState {
    init(_ userID: String, in channel: UserChannel) {
        self.init()
        channelType = .init(channel.type)
        self.channel = channel.name
        self.userID = userID
    }
}
