/// Channels that the app has left while nobody could tell the server, or without an answer of the server.
/// Until the presence timeout others see the user there. A server passes over an unsubscribe of what a
/// connection isn't subscribed to, so the next connection takes them up and ends them (S-16, M-6).
struct LeftSubscriptions {
    private var entries:
        [ChannelID: (restoration: SubscriptionTable.Restoration, until: LinkSession.Instant)] =
            [:]

    subscript(channel: ChannelID) -> SubscriptionTable.Restoration? { entries[channel]?.restoration }

    /// - Parameter time: who was away until then has left already, and would be seen to come.
    mutating func add(_ restorations: [SubscriptionTable.Restoration], until time: LinkSession.Instant) {
        for restoration in restorations { entries[restoration.channel] = (restoration, time) }
    }

    mutating func remove(_ channel: ChannelID) { entries[channel] = nil }

    /// What the new connection takes up to end it. A stream channel comes before its topics.
    mutating func restorations(now: LinkSession.Instant) -> [SubscriptionTable.Restoration] {
        entries = entries.filter { now < $0.value.until }
        return entries.values.map(\.restoration).sorted { $0.channel < $1.channel }
    }
}
