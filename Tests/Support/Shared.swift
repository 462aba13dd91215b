import Synchronization

/// A value that several tasks change.
package final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    package init(_ value: sending Value) { self.value = Mutex(value) }

    package func withLock<Result: Sendable>(_ body: (inout sending Value) -> sending Result) -> Result {
        value.withLock(body)
    }

    /// The present value.
    package var present: Value { value.withLock { $0 } }
}
