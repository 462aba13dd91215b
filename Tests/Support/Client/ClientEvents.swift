package import RTMClient

extension RTMEvents.Iterator {
    /// Waits for the next message, whatever else happens meanwhile.
    package mutating func nextMessage() async -> MessageEvent? {
        while let event = await next() {
            if case .message(let message) = event { return message }
        }
        return nil
    }

    package mutating func nextGap() async -> GapEvent? {
        while let event = await next() {
            if case .gap(let gap) = event { return gap }
        }
        return nil
    }

    /// Waits for the next presence event; with a channel, for one of that channel.
    package mutating func nextPresence(in channel: String? = nil) async -> PresenceEvent? {
        while let event = await next() {
            if case .presence(let presence) = event, channel ?? presence.channelName == presence.channelName {
                return presence
            }
        }
        return nil
    }

    /// Waits for the next event of topics; with a kind, for one of that kind.
    package mutating func nextTopic(_ kind: TopicEventKind? = nil) async -> TopicEvent? {
        while let event = await next() {
            if case .topic(let topic) = event, kind ?? TopicEventKind(topic) == TopicEventKind(topic) {
                return topic
            }
        }
        return nil
    }

    package mutating func nextStorage() async -> MetadataEvent? {
        while let event = await next() {
            if case .metadata(let storage) = event { return storage }
        }
        return nil
    }

    package mutating func nextUndecryptable() async -> UndecryptableEvent? {
        while let event = await next() {
            if case .undecryptable(let event) = event { return event }
        }
        return nil
    }

    package mutating func nextOutbox() async -> OutboxEvent? {
        while let event = await next() {
            if case .outbox(let event) = event { return event }
        }
        return nil
    }

    package mutating func nextLock() async -> LockEvent? {
        while let event = await next() {
            if case .lock(let lock) = event { return lock }
        }
        return nil
    }

    package mutating func nextStreamEnd() async -> StreamChannelEndedEvent? {
        while let event = await next() {
            if case .streamChannelEnded(let event) = event { return event }
        }
        return nil
    }

    package mutating func nextTokenNotice() async -> TokenWillExpireEvent? {
        while let event = await next() {
            if case .tokenWillExpire(let notice) = event { return notice }
        }
        return nil
    }

    package mutating func nextLinkState(_ state: LinkState) async -> LinkStateEvent? {
        while let event = await next() {
            if case .linkState(let change) = event, change.currentState == state { return change }
        }
        return nil
    }
}

package enum TopicEventKind: Sendable {
    case snapshot, joined, left

    init(_ event: TopicEvent) {
        switch event.change {
        case .snapshot: self = .snapshot
        case .joined: self = .joined
        case .left: self = .left
        }
    }
}
