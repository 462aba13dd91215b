/// Numbers the contents that one sender encrypts. No number comes twice. Pure.
struct NonceCounter: Sendable {
    /// Limit: contents under one sender id. The next one begins a new sender id. AES-GCM stays far from its
    /// bounds, even if each content has 32 KiB.
    static let contentsMax: UInt64 = 1 << 32

    private var next: UInt64

    init(startingAt first: UInt64 = 0) { next = first }

    /// `nil` if all numbers are used up.
    mutating func take() -> UInt32? {
        guard next < Self.contentsMax else { return nil }
        defer { next += 1 }
        return UInt32(next)
    }
}
