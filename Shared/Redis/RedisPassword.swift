import Synchronization

/// The password of the user in Redis; it is never logged. It is read when a connection begins, so a new one
/// counts from the next connection on, and the present connection stays up.
package final class RedisPassword: Sendable, ExpressibleByStringLiteral {
    private let value: Mutex<String>

    /// - Parameter value: if it is empty, the connection doesn't log in.
    package init(_ value: String) { self.value = Mutex(value) }

    package convenience init(stringLiteral value: String) { self.init(value) }

    /// The password itself, for the connection.
    var revealed: String { value.withLock { $0 } }

    package func set(_ value: String) { self.value.withLock { $0 = value } }
}
