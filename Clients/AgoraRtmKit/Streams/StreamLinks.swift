import NIOConcurrencyHelpers
import RTMClient
import RTMModel

/// The links of the stream channels of one client, as the app sees them (S-30, S-31). All of them share the
/// one connection, so they change with the link of the client. Pure.
struct StreamLinkTable {
    private struct StreamLink {
        var state = LinkState.idle
        /// The app has joined, and has not left since.
        var isJoined = false
        /// The link of the client has been lost for longer than the resume window.
        var isSuspended = false
    }

    private var links: [String: StreamLink] = [:]

    /// A join of a channel that is joined changes nothing.
    mutating func join(_ channel: String, at time: UInt64) -> LinkStateEvent? {
        guard links[channel]?.isJoined != true else { return nil }
        return change(channel, to: .connecting, .join, .join, "joining", at: time)
    }

    mutating func joined(_ channel: String, at time: UInt64) -> LinkStateEvent? {
        links[channel]?.isJoined = true
        return change(channel, to: .connected, .join, .joinSuccess, "joined", at: time)
    }

    /// The channel is joined, and something that belongs to it can't be had for the moment. The state stays
    /// what it is.
    func lacks(_ feature: SubscriptionFeatures, _ channel: String, at time: UInt64) -> LinkStateEvent? {
        guard let state = links[channel]?.state, let reason = LinkStateReason(lacking: feature) else {
            return nil
        }
        return LinkStateEvent(
            currentState: state, previousState: state, operation: .join, reasonCode: reason,
            reason: "joined, but something isn't available yet: \(reason)", affectedChannels: [channel],
            timestampMilliseconds: time
        ).ofStreamChannel
    }

    mutating func joinFailed(_ channel: String, _ error: RTMError, at time: UInt64) -> LinkStateEvent? {
        links[channel]?.isJoined = false
        return change(channel, to: .failed, .join, LinkStateReason(joining: error), error.reason, at: time)
    }

    mutating func left(_ channel: String, at time: UInt64) -> LinkStateEvent? {
        links[channel]?.isJoined = false
        return change(channel, to: .idle, .leave, .leave, "left", at: time)
    }

    mutating func forget(_ channel: String) { links[channel] = nil }

    /// The link of the client has changed, and with it the links of the channels that are joined.
    mutating func linkChanged(_ change: LinkStateEvent) -> [LinkStateEvent] {
        let joined = links.filter(\.value.isJoined).map(\.key).sorted()
        return joined.compactMap { channel in
            let time = change.timestampMilliseconds
            switch change.currentState {
            case .connected:
                // After a longer loss others saw the user time out, and see the user join (S-31).
                let isResumed = links[channel]?.isSuspended == false
                links[channel]?.isSuspended = false
                return self.change(
                    channel, to: .connected, .reconnected, isResumed ? .reconnectSuccess : .rejoin,
                    change.reason, isResumed: isResumed, at: time)
            case .connecting, .disconnected, .suspended:
                if change.currentState == .suspended { links[channel]?.isSuspended = true }
                return self.change(
                    channel, to: .connecting, .autoReconnect, .autoReconnect, change.reason, at: time)
            case .failed, .idle:
                links[channel]?.isJoined = false
                return self.change(
                    channel, to: change.currentState, change.operation, change.reasonCode, change.reason,
                    at: time)
            }
        }
    }

    private mutating func change(
        _ channel: String, to state: LinkState, _ operation: LinkOperation, _ code: LinkStateReason,
        _ reason: String, isResumed: Bool = false, at time: UInt64
    ) -> LinkStateEvent? {
        var link = links[channel] ?? StreamLink()
        guard link.state != state else { return nil }
        let previous = link.state
        link.state = state
        links[channel] = link
        return LinkStateEvent(
            currentState: state, previousState: previous, operation: operation, reasonCode: code,
            reason: reason, affectedChannels: [channel], isResumed: isResumed, timestampMilliseconds: time
        ).ofStreamChannel
    }
}

extension LinkStateEvent {
    /// The event as one of a stream channel's link.
    fileprivate var ofStreamChannel: LinkStateEvent {
        var event = self
        event.serviceType = .stream
        return event
    }
}

extension LinkStateReason {
    /// Why a join failed, where the cause has a name of its own.
    fileprivate init(joining error: RTMError) {
        self =
            switch error.code {
            case .invalidToken: .invalidToken
            case .tokenExpired: .tokenExpired
            case .loginInconsistentAppId: .inconsistentAppId
            case .invalidChannelName: .invalidChannelName
            case .notLogin, .notConnected: .rtmServiceNotConnected
            case .channelNotAvailable: .streamChannelNotAvailable
            case .channelJoinFailed where error.limit?.name == Limits.joinedStreamChannelsName:
                .channelInstanceExceedLimitation
            default: .joinFailed
            }
    }

    /// What a join asked for and didn't get; nil for what is no feature of its own.
    fileprivate init?(lacking feature: SubscriptionFeatures) {
        switch feature {
        case .presence: self = .presenceNotReady
        case .metadata: self = .storageNotAvailable
        case .lock: self = .lockNotAvailable
        default: return nil
        }
    }
}

/// The stream channels of one client and their links.
final class StreamLinks: Sendable {
    /// Limit: stream channels that an app may have created at one time (L-25).
    private static let channelsMax = Limits.joinedStreamChannelsMax

    private struct Contents {
        var table = StreamLinkTable()
        /// The objects that aren't destroyed, by name. They are held weakly.
        var channels: [String: Entry] = [:]
    }

    private struct Entry {
        weak var channel: AgoraRtmStreamChannel?
    }

    private let contents = NIOLockedValueBox(Contents())

    /// The object of a stream channel: the one that there is, or a new one (C-1).
    ///
    /// - Throws: `.channelInstanceExceedLimitation` (-11005) if there are too many.
    func channel(
        _ name: String, _ make: () -> AgoraRtmStreamChannel
    ) throws(RTMError) -> AgoraRtmStreamChannel {
        let (channel, count): (AgoraRtmStreamChannel?, Int) = contents.withLockedValue { contents in
            contents.channels = contents.channels.filter { $0.value.channel != nil }
            if let present = contents.channels[name]?.channel { return (present, 0) }
            guard contents.channels.count < Self.channelsMax else { return (nil, contents.channels.count) }
            let channel = make()
            contents.channels[name] = Entry(channel: channel)
            return (channel, 0)
        }
        guard let channel else {
            throw RTMError(
                .channelInstanceExceedLimitation, "there are \(count) stream channels, which is the limit",
                operation: "createStreamChannel",
                limit: .init(name: "stream channels", value: UInt64(Self.channelsMax)))
        }
        return channel
    }

    func destroyed(_ name: String) {
        contents.withLockedValue { contents in
            contents.channels[name] = nil
            contents.table.forget(name)
        }
    }

    func change(_ change: (inout StreamLinkTable, UInt64) -> LinkStateEvent?) -> LinkStateEvent? {
        let now = UInt64(Date().timeIntervalSince1970 * 1000)
        return contents.withLockedValue { change(&$0.table, now) }
    }

    func linkChanged(_ change: LinkStateEvent) -> [LinkStateEvent] {
        contents.withLockedValue { $0.table.linkChanged(change) }
    }

    /// The server refused to take a channel up again.
    func ended(_ event: StreamChannelEndedEvent) -> [LinkStateEvent] {
        [change { $0.joinFailed(event.channelName, event.error, at: $1) }].compactMap(\.self)
    }
}
