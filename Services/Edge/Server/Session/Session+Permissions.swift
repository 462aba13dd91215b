import RTMAppConfiguration
import RTMWire

/// What the session's token allows, and the operator permits.
extension Session: RightsHolder {
    var policies: ForeignPolicies { application.policies }

    /// Whether the session may publish in a stream channel. Where the operator asks for it, the token of the
    /// join needs the privilege. An app that needs no tokens restricts no user.
    ///
    /// - Parameter now: UTC, in milliseconds since 1970.
    /// - Returns: why it may not; nil if it may.
    func obstacleToTopics(of channel: WireText, now: () -> UInt64) -> String? {
        guard policies.topics == .granted, application.tokens != nil else { return nil }
        guard joinTokens?.allowPublishing(in: channel.string, now: now()) != true else { return nil }
        return "the token that joined stream channel \"\(channel.string)\" doesn't allow to publish there"
    }
}
