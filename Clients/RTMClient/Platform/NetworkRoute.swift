import NIOCore

/// Which address of this machine leads to the servers. Pure.
///
/// The kernel reports every change of an address or a route, also of those that have nothing to do with this
/// client, such as the networks of containers. What concerns it is whether packets to its server leave from
/// another address than before: then the connection runs over a way that is gone, or isn't the best any more.
struct NetworkRoute {
    /// Nobody has these addresses (RFC 5737, RFC 3849), so that they stand for all that isn't near.
    private static let anywhere = ["192.0.2.1", "2001:db8::1"]

    /// Where the last connection led to, and from which address.
    private var server: SocketAddress?
    private var source: String?

    /// Where the route has to be looked up.
    var targets: [SocketAddress] {
        if let server { return [server] }
        return Self.anywhere.compactMap { try? SocketAddress(ipAddress: $0, port: 9) }
    }

    /// A connection is open.
    mutating func opened(from local: SocketAddress?, to remote: SocketAddress?) {
        guard let local, let remote, local.ipAddress != nil else { return }
        server = remote
        source = local.ipAddress
    }

    /// Takes what the kernel says now. A way that is gone is no change, because there is no other one yet.
    /// The next one is a change, even if it is the same as before.
    mutating func isChanged(to source: String?) -> Bool {
        defer { self.source = source }
        return source != nil && source != self.source
    }
}
