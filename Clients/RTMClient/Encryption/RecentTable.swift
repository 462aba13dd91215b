/// Remembers the values that were used lately. Pure.
///
/// There are two generations. When the younger one is full it becomes the older one, and what the older one
/// still has is forgotten. So at least the last `capacity` values stay, and a look-up costs no bookkeeping.
struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity: Int
    private var younger: [Key: Value] = [:]
    private var older: [Key: Value] = [:]

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { younger.count + older.count }

    /// `nil` if the value was never there, or is forgotten.
    mutating func value(of key: Key) -> Value? {
        if let value = younger[key] { return value }
        guard let value = older[key] else { return nil }
        put(value, for: key)
        return value
    }

    mutating func put(_ value: Value, for key: Key) {
        if younger.count >= capacity, younger[key] == nil {
            older = younger
            younger = [:]
        }
        older[key] = nil
        younger[key] = value
    }
}
