import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

/// The snapshots of channels with very many users (P-27). One of them may not fit into an answer, and many of
/// them don't fit into the queue of a link when many users come at once. So the answer to a join only says
/// that there are too many users. The edge then asks for the snapshot once for all users who wait for it, and
/// gets it in parts, one after the other. All parts show one moment: the rest of the snapshot is held until
/// the edge has asked for it.
extension PresenceNode {
    func roster(
        _ request: RosterRequest, _ id: UInt64, timeout: Duration, _ link: AcceptedServiceLink
    ) throws(RTMError) {
        try PresenceCalls.check(request.channel.type)
        guard request.snapshot == 0 else {
            guard let held = heldSnapshots.take(request.snapshot, of: link.id) else {
                throw RTMError(
                    .presenceOperationFailed, "the rest of the snapshot is not held any more",
                    retryAfter: .seconds(1))
            }
            return give(held, id, link)
        }
        let countMax = settings.snapshots.heldMax
        guard heldSnapshots.count < countMax else {
            throw RTMError(
                .presenceOperationFailed, "\(countMax) snapshots are under way", retryAfter: .seconds(1),
                limit: .init(name: "snapshots under way", value: UInt64(countMax)))
        }
        let pending = PendingJoin(
            request: id, link: link, channel: request.channel, wantsSnapshot: true, isForRoster: true)
        wait(joins.add(pending, timeout: timeout, now: now), through: 0)
    }

    func giveRoster(_ join: PendingJoin, _ position: StreamPosition) {
        let text = SnapshotText(users: join.snapshot?.users ?? [], channel: join.channel, position: position)
        let (bytes, bytesMax) = (text.bytes, settings.snapshots.bytesMax)
        guard bytes <= bytesMax else {
            return join.fail(
                RTMError(
                    .presenceOperationFailed,
                    "the users of the channel and their states have \(bytes) bytes, \(bytesMax) are allowed",
                    limit: .init(name: "snapshot bytes", value: UInt64(bytesMax))))
        }
        give(HeldSnapshots.Rest(text: text, start: 0), join.request, join.link)
    }

    private func give(_ rest: HeldSnapshots.Rest, _ id: UInt64, _ link: AcceptedServiceLink) {
        var frames = ByteBuffer()
        var number: UInt64 = 0
        let end = rest.text.write(from: rest.start, bytesMax: settings.snapshots.partBytesMax, into: &frames)
        if let end {
            number = heldSnapshots.hold(
                HeldSnapshots.Rest(text: rest.text, start: end), of: link.id,
                until: now + HeldSnapshots.lifetime)
        }
        frames.withUnsafeReadableBytes { bytes in
            link.respond(to: id, RosterResponse(frames: WireText(bytes), snapshot: number))
        }
    }
}

/// How much of a snapshot is sent at once. Sizes are in bytes of frames, and a frame is never split.
struct SnapshotLimits: Sendable {
    /// Limit: online users, and bytes, of a snapshot that comes with the answer to a join.
    var joinUsersMax = 512
    var joinBytesMax = 16 * 1024
    /// Limit: bytes that wait for an edge. Beyond it no snapshot comes with the answer to a join.
    var joinQueueMax = 8 << 20
    /// Limit: bytes of one part of a big snapshot.
    var partBytesMax = 1 << 20
    /// Limit: bytes of users and states of one snapshot. Beyond it presence is unavailable in the channel.
    var bytesMax = 64 << 20
    /// Limit: big snapshots that are on their way to edges at the same time.
    var heldMax = 256
}

/// A snapshot as frames for the subscribers.
struct SnapshotText: Sendable {
    let users: [UserState]
    let channel: ChannelKey
    let position: StreamPosition

    /// The encoded size of users and states.
    var bytes: Int { users.reduce(0) { $0 + $1.encodedLength } }

    /// Writes whole frames, at least one, from the user at `first` on. Returns the user that the next part
    /// begins with, or nil if there is nothing more to write.
    func write(from first: Int, bytesMax: Int, into frames: inout ByteBuffer) -> Int? {
        var start = first
        repeat {
            let end = start + PresencePage.count(of: users, from: start)
            let part = PresenceSnapshot(
                channel: channel, position: position, users: Array(users[start..<end]),
                more: end < users.count)
            ServerFrame(part).encodeFrame(into: &frames)
            start = end
        } while start < users.count && frames.readableBytes < bytesMax
        return start < users.count ? start : nil
    }
}

/// The rests of big snapshots that edges have not asked for yet. Pure: every call gets the time in
/// milliseconds.
struct HeldSnapshots {
    /// How long an edge may take to ask for the next part, in milliseconds.
    static let lifetime: UInt64 = 30_000

    struct Rest {
        let text: SnapshotText
        let start: Int
    }

    private var rests: [UInt64: (rest: Rest, link: UInt64, until: UInt64)] = [:]
    private var last: UInt64 = 0

    var count: Int { rests.count }

    /// Returns the number with which the edge asks for the rest.
    mutating func hold(_ rest: Rest, of link: UInt64, until: UInt64) -> UInt64 {
        last += 1
        rests[last] = (rest, link, until)
        return last
    }

    mutating func take(_ number: UInt64, of link: UInt64) -> Rest? {
        guard let held = rests[number], held.link == link else { return nil }
        rests[number] = nil
        return held.rest
    }

    mutating func forget(of link: UInt64) { rests = rests.filter { $0.value.link != link } }

    mutating func forgetOld(now: UInt64) {
        guard rests.contains(where: { $0.value.until <= now }) else { return }
        rests = rests.filter { $0.value.until > now }
    }
}
