/// The times of a link that the public behaviour fixes (behaviour.md 2.3, S-14). Tests shorten them.
package struct LinkTiming: Sendable, Hashable {
    /// The first wait after a failure, which doubles each time (S-14).
    package var firstRetryDelay: Duration = .seconds(2)
    /// The wait after a server has refused the connection, or no network led to it, which doubles each time
    /// up to `refusedRetryDelayMax` (S-14).
    package var refusedRetryDelay: Duration = .milliseconds(250)
    package var refusedRetryDelayMax: Duration = .seconds(5)
    /// How long a link is `disconnected` before it is `suspended` (T10).
    package var resumeWindow: Duration = .seconds(120)
    /// The wait between the attempts of a suspended link (T11).
    package var suspendedRetryDelay: Duration = .seconds(30)
    /// The last attempt starts this long before the link is `suspended`, so that it can still end in time
    /// (S-14).
    package var lastAttemptLead: Duration = .seconds(10)
    /// A delay is longer or shorter by up to this share (S-14).
    package var jitter = 0.2
    /// If a heartbeat has no answer within this time, the connection is lost (S-40).
    package var heartbeatAnswer: Duration = .seconds(10)
    /// How long a connection may take to say goodbye (S-22).
    package var goodbye: Duration = .seconds(2)
    /// How long until the client asks again for something that the server could not give, if the server
    /// doesn't say when.
    package var refreshPause: Duration = .seconds(2)
    /// Replaces the heartbeat interval of the configuration and of the server.
    package var heartbeatInterval: Duration?
    /// The times of a client with a second path.
    package var paths = PathTiming()

    package init() {}
}
