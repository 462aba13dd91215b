import NIOCore
import RTMServiceKit
import Synchronization

/// A rate that all loops of an edge share. A loop draws a portion at a time, so that the lock is taken once
/// for many messages.
final class SharedBucket: Sendable {
    /// A loop draws as much as comes back in a hundredth of a second.
    private static let portionsPerSecond = 100

    let rate: Rate
    private let bucket = Mutex<TokenBucket?>(nil)

    init(_ rate: Rate) { self.rate = rate }

    enum Drawn: Equatable {
        case portion(Int)
        /// There is not enough at present.
        case wait(TimeAmount)
    }

    /// How long until so many can be drawn; nil if they can be now. Draws none.
    func wait(for count: Int, now: NIODeadline) -> TimeAmount? {
        bucket.withLock { bucket in
            var copy = bucket
            return copy?.wait(for: count, rate, now: now)
        }
    }

    /// Draws a portion, and `count` at least.
    func draw(atLeast count: Int, now: NIODeadline) -> Drawn {
        let portion = max(count, rate.perSecond / Self.portionsPerSecond)
        return bucket.withLock { bucket in
            var present = bucket ?? TokenBucket(rate, now: now)
            defer { bucket = present }
            if let wait = present.wait(for: count, rate, now: now) { return .wait(wait) }
            return .portion(present.spend(upTo: portion))
        }
    }
}

/// What a loop has drawn from a shared bucket and not spent yet.
struct BucketShare {
    private let bucket: SharedBucket
    private var left = 0

    init(of bucket: SharedBucket) { self.bucket = bucket }

    var perSecond: Int { bucket.rate.perSecond }

    /// How long until so many can be spent; nil if they can be now.
    mutating func wait(for count: Int, now: NIODeadline) -> TimeAmount? {
        guard !bucket.rate.isUnlimited, left < count else { return nil }
        switch bucket.draw(atLeast: count - left, now: now) {
        case .portion(let portion):
            left += portion
            return nil
        case .wait(let wait):
            return wait
        }
    }

    /// As `wait`, but draws nothing from what all loops share.
    func expectedWait(for count: Int, now: NIODeadline) -> TimeAmount? {
        guard !bucket.rate.isUnlimited, left < count else { return nil }
        return bucket.wait(for: count - left, now: now)
    }

    mutating func spend(_ count: Int) {
        if !bucket.rate.isUnlimited { left -= count }
    }
}

/// What the sessions of one app may publish together at one edge. All loops share it.
struct AppPublishRate: Sendable {
    let rate: PublishRate
    fileprivate let messages: SharedBucket
    fileprivate let bytes: SharedBucket

    init(_ rate: PublishRate) {
        self.rate = rate
        messages = SharedBucket(rate.messages)
        bytes = SharedBucket(rate.bytes)
    }
}

/// One loop's share of what an app may publish. The sessions of the app on that loop share it.
final class AppPublishShare {
    private var messages: BucketShare
    private var bytes: BucketShare

    init(of rate: AppPublishRate) {
        messages = BucketShare(of: rate.messages)
        bytes = BucketShare(of: rate.bytes)
    }

    /// What one more message of so many bytes exceeds; nil if it may be published.
    func shortage(_ count: Int, now: NIODeadline) -> PublishShortage? {
        if let wait = messages.wait(for: 1, now: now) {
            return PublishShortage(limit: .appMessages, perSecond: messages.perSecond, wait: wait)
        }
        guard let wait = bytes.wait(for: count, now: now) else { return nil }
        return PublishShortage(limit: .appBytes, perSecond: bytes.perSecond, wait: wait)
    }

    /// As `shortage`, but changes nothing.
    func expectedShortage(_ count: Int, now: NIODeadline) -> PublishShortage? {
        if let wait = messages.expectedWait(for: 1, now: now) {
            return PublishShortage(limit: .appMessages, perSecond: messages.perSecond, wait: wait)
        }
        guard let wait = bytes.expectedWait(for: count, now: now) else { return nil }
        return PublishShortage(limit: .appBytes, perSecond: bytes.perSecond, wait: wait)
    }

    /// Takes a message that has no shortage.
    func spend(_ count: Int) {
        messages.spend(1)
        bytes.spend(count)
    }
}
