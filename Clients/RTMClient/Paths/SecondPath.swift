/// The way of a second connection that a client keeps beside the one in use (N-5).
///
/// When the connection in use stalls or ends, the client continues over the second one at once. The link
/// stays connected, no message is missing, and none comes twice, because positions say what comes next,
/// and not the connection. Then it opens another second connection, over another way than the new one.
///
/// The second connection isn't logged in. A server ends such a connection after a while, 10 seconds
/// unless it is configured otherwise, so that the client opens it anew several times a minute. Beside
/// that, the client sends a heartbeat every second. A client without a second path pays nothing.
public enum SecondPath: Sendable, Hashable {
    /// To another one of the servers, over the same interface. If there is only one server, there is no
    /// second connection.
    case otherServer
    /// Over another interface of the device than the one in use, such as its second network. If there is
    /// none, to another one of the servers.
    ///
    /// - Parameter named: the name of the second interface, such as `wlan0`; `nil` means any.
    case otherInterface(named: String? = nil)
}
