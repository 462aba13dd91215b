import Synchronization

/// Who logs in to Redis; the password is never logged. They are read when a connection begins, so new ones
/// count from the next connection on, and the present connection stays up.
package final class RedisCredentials: Sendable {
    private struct Value {
        var user: String
        var password: String
    }

    private let value: Mutex<Value>

    /// - Parameters:
    ///   - user: the ACL user; if it is empty, the default user.
    ///   - password: if it is empty, the connection doesn't log in.
    package init(user: String = "", password: String = "") {
        value = Mutex(Value(user: user, password: password))
    }

    package func set(user: String, password: String) {
        value.withLock { $0 = Value(user: user, password: password) }
    }

    /// What the connection has to send first; nil if it doesn't log in.
    var login: RedisCommand? {
        let (user, password) = value.withLock { ($0.user, $0.password) }
        guard !password.isEmpty else { return nil }
        return RedisCommand(["AUTH"] + (user.isEmpty ? [] : [.text(user)]) + [.text(password)])
    }
}
