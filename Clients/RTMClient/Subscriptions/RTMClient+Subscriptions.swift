public import RTMModel

extension RTMClient {
    /// Starts the delivery of a message channel, or replaces the features of a running subscription (M-5).
    ///
    /// The subscription survives losses of the link: it is re-established with everything that was missed
    /// (S-19).
    ///
    /// What the server can't give at present doesn't refuse it: `unavailableFeatures` of the answer names
    /// that. Presence, metadata and locks then begin with a snapshot as soon as they are there (M-4, D-41,
    /// K-13).
    ///
    /// - Throws: -10008 bad name, -10002 not logged in, -10025 not connected, -10017 a `subscribe` of this
    ///   channel is under way (M-8), -11021 too many channels (L-24) or refused, -11019 no answer in time,
    ///   -11020 too often.
    @discardableResult
    public func subscribe(
        to channel: String, features: SubscriptionFeatures = .default
    ) async throws(RTMError) -> Subscription {
        try check(.subscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        return try await perform(.subscribe) { link, completion in
            link.subscriptions.subscribe(to: channel, features: features, completion)
        }
    }

    /// Ends the delivery of a channel. Works without a connection too: then the subscription isn't restored
    /// (S-16).
    ///
    /// - Throws: -10008 bad name, -10002 not logged in, -11002 not subscribed, -11022 no answer in time.
    public func unsubscribe(from channel: String) async throws(RTMError) {
        try check(.unsubscribe) { () throws(RTMError) in try NameRule.channel.check(channel.utf8) }
        try await perform(.unsubscribe) { link, completion in
            link.subscriptions.unsubscribe(from: channel, completion)
        }
    }
}
