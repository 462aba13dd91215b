import RTMModel

/// Who publishes the topics of the stream channels that are joined, and the calls that wait until this user
/// is a publisher there.
final class TopicRosters {
    private let events: EventOutlet
    /// By the names of the stream channels.
    private var rosters: [String: TopicRoster] = [:]
    /// How often the app has joined a stream channel.
    private var memberships: UInt64 = 0
    /// By stream channel: the calls that wait until this user is a publisher there.
    private var waiting: [String: [(RTMError?) -> Void]] = [:]

    init(events: EventOutlet) { self.events = events }

    subscript(channel: String) -> TopicRoster? { rosters[channel] }

    /// The app joins the stream channel.
    func begin(_ channel: String) {
        memberships += 1
        rosters[channel] = TopicRoster(membership: memberships)
    }

    /// What presence says of the publishers of topics.
    func received(_ event: PresenceEvent) {
        let changes = rosters[event.channelName, default: TopicRoster()].apply(event.change)
        for change in changes {
            let topic = TopicEvent(
                channelName: event.channelName, change: change,
                timestampMilliseconds: event.timestampMilliseconds)
            events.emit(.topic(topic))
        }
    }

    // MARK: Becoming a publisher

    /// - Returns: whether this is the first call that waits for it, which has to send the request.
    func waitUntilPublisher(in channel: String, _ done: @escaping (RTMError?) -> Void) -> Bool {
        waiting[channel, default: []].append(done)
        return waiting[channel]?.count == 1
    }

    /// The user has become a publisher in the stream channel, or could not.
    func becamePublisher(in channel: String, _ error: RTMError?) {
        for done in waiting.removeValue(forKey: channel) ?? [] { done(error) }
    }

    // MARK: Leaving

    /// The app has left the stream channel.
    func forget(_ channel: String) {
        rosters[channel] = nil
        becamePublisher(in: channel, ChannelID.stream(channel).isNotSubscribed)
    }

    func forgetAll() {
        rosters = [:]
        for channel in waiting.keys.sorted() {
            becamePublisher(in: channel, RTMError(.notLogin, "the session has ended"))
        }
    }
}
