/// Values by key that are forgotten when nobody has read or set them for long. A node keeps such values of
/// channels whose end another node may have seen. Pure.
///
/// The values lie in two generations. Once in a lifetime the earlier generation is dropped as a whole, and a
/// value that is used meanwhile moves to the recent one. So nothing is searched, and an idle value goes after
/// one to two lifetimes.
struct GenerationalCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var recent: [Key: Value] = [:]
    private var earlier: [Key: Value] = [:]
    /// How long an unused value is kept at least, in milliseconds.
    private let lifetime: UInt64
    private var turnsAt: UInt64?

    init(lifetime: UInt64) { self.lifetime = lifetime }

    var count: Int { recent.count + earlier.count }

    subscript(key: Key) -> Value? {
        mutating get {
            if let value = recent[key] { return value }
            guard !earlier.isEmpty, let value = earlier.removeValue(forKey: key) else { return nil }
            recent[key] = value
            return value
        }
        set {
            recent[key] = newValue
            if !earlier.isEmpty { earlier[key] = nil }
        }
    }

    mutating func removeAll() {
        recent = [:]
        earlier = [:]
    }

    /// Starts a new generation when it is time for one. The owner calls it regularly with the time in
    /// milliseconds.
    mutating func forgetIdle(now: UInt64) {
        if let turnsAt, now < turnsAt { return }
        if turnsAt != nil {
            earlier = recent
            recent = [:]
        }
        turnsAt = now + lifetime
    }
}
