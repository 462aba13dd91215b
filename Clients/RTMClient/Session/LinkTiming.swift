/// The clocks of a link that the public behaviour fixes (behaviour.md 2.3, S-14). Tests shorten them.
package struct LinkTiming: Sendable, Hashable {
    /// S-14: the first wait after a failure; it doubles each time.
    package var firstRetryDelay: Duration = .seconds(2)
    /// T10: how long a link is `disconnected` before it is `suspended`.
    package var resumeWindow: Duration = .seconds(120)
    /// T11: between the attempts of a suspended link.
    package var suspendedRetryDelay: Duration = .seconds(30)
    /// S-14: the last attempt before `suspended` starts this long before, so that it can still end in time.
    package var lastAttemptLead: Duration = .seconds(10)
    /// S-14: a delay is up to this share longer or shorter.
    package var jitter = 0.2
    /// S-40: no answer to a heartbeat within this time is a loss.
    package var heartbeatAnswer: Duration = .seconds(10)
    /// S-22: how long a connection may take to say goodbye.
    package var goodbye: Duration = .seconds(2)
    /// How long until something is asked for again that the server could not give, if it doesn't say when.
    package var refreshPause: Duration = .seconds(2)
    /// Replaces the interval of the configuration and of the server.
    package var heartbeatInterval: Duration?

    package init() {}
}
