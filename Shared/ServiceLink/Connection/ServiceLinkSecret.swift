import Synchronization

/// The secret that all services of an installation share. It is read at each handshake, so a new secret
/// counts from the next link on, and links that are up stay up.
package final class ServiceLinkSecret: Sendable, ExpressibleByStringLiteral {
    private let value: Mutex<String>

    /// - Parameter value: the secret, which is never logged. If it is empty, none is asked for.
    package init(_ value: String) { self.value = Mutex(value) }

    package convenience init(stringLiteral value: String) { self.init(value) }

    /// The secret itself, for the handshake.
    var revealed: String { value.withLock { $0 } }

    package func set(_ value: String) { self.value.withLock { $0 = value } }
}
