/// A rate of an edge, by the name that its refusals carry (`RTMError.limit`).
package enum RateLimit: String, Sendable, CaseIterable {
    case publish = "messages per second"
    case topicPublish = "messages per second to a topic"
    case sessionPublish = "messages per second of a session"
    case sessionPublishBytes = "message bytes per second of a session"
    case appPublish = "messages per second of an app"
    case appPublishBytes = "message bytes per second of an app"
    case calls = "calls per second"
    case subscribe = "subscribes in five seconds"
    case channelMetadata = "calls for channel metadata per second"
    case userMetadata = "calls for user metadata per second"
    case userMetadataSubscribes = "subscribes to user metadata per second"
    case acquireLock = "acquires of locks per second"
    case renewal = "token renewals per second"
    case login = "logins per second"
    case stateBytes = "bytes of states times users per second"
    case pageBytes = "bytes of answers to queries per second"
    case appPageBytes = "bytes of answers to queries per second of an app"

    /// The configuration key that sets it.
    package var key: String {
        switch self {
        case .userMetadataSubscribes: Self.userMetadata.key
        default: "edge.rates.\(self)"
        }
    }
}
