import NIOCore
import RTMMessagingServer
import RTMModel
import RTMWire

/// What edges send to one broker. A step is a byte for what is done and by which link, a byte of time, a byte
/// of length and as many bytes of a message.
enum FuzzedBroker {
    private static let limits = BrokerLimits(
        partitionCount: 2, ageMax: 300, catchUpEntriesMax: 4, catchUpBytesMax: 200, idleMax: 300,
        channelsMax: 3, tailBytesMax: 4_000, segmentBytes: 200)

    static func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        var broker = Broker(limits: limits, firstEpoch: 1)
        let arena = DecodeArena(capacity: 512)
        var now: UInt64 = 1000
        var rest = bytes[...]
        while rest.count >= 3 {
            let head = rest.prefix(3).map(Int.init)
            now += UInt64(head[1])
            let body = rest.dropFirst(3).prefix(head[2])
            rest = rest.dropFirst(3 + body.count)
            try broker.step(
                head[0] & 7, link: head[0] >> 3 & 3, UnsafeRawBufferPointer(rebasing: body), arena, now)
            try Disagreement.unless(
                broker.openChannelCount <= limits.channelsMax, "\(broker.openChannelCount) channels")
        }
    }
}

extension Broker {
    fileprivate mutating func step(
        _ kind: Int, link: ServiceLinkID, _ body: UnsafeRawBufferPointer, _ arena: borrowing DecodeArena,
        _ now: UInt64
    ) throws(Disagreement) {
        switch kind {
        case 0, 1: try fuzzPublish(body, now)
        case 2, 3: try fuzzAttach(body, arena, link, now)
        case 4:
            guard let request = try? ReadRequest(body, in: arena),
                let page = try? read(request, bytesMax: 100, now: now)
            else { return }
            let offsets = page.entries.map(\.offset)
            try Disagreement.unless(offsets == offsets.sorted(), "a page with the offsets \(offsets)")
        case 5:
            if let request = try? DetachPush(body, in: arena) {
                detach(Interest(link: link, id: request.interest), now: now)
            }
        case 6: linkClosed(link, now: now)
        default: sweep(2, now: now)
        }
    }

    private mutating func fuzzPublish(_ body: UnsafeRawBufferPointer, _ now: UInt64) throws(Disagreement) {
        guard let request = try? PublishRequest(scanning: body),
            let appended = try? publish(request, now: now)
        else { return }
        let entries = appended.entries
        if request.origin.againAfter != nil, entries.count == 0 {
            return try Disagreement.unless(
                entries.offset > 0 && appended.interests.isEmpty, "a repeated publish was delivered again")
        }
        try Disagreement.unless(
            entries.count == request.messages.count,
            "\(request.messages.count) messages became \(entries.count) entries")
        let rest = frames(of: appended).withUnsafeReadableBytes {
            FrameReader.dropFirst(entries.count, of: $0).count
        }
        try Disagreement.unless(rest == 0, "\(rest) bytes behind \(entries.count) frames")
    }

    private mutating func fuzzAttach(
        _ body: UnsafeRawBufferPointer, _ arena: borrowing DecodeArena, _ link: ServiceLinkID, _ now: UInt64
    ) throws(Disagreement) {
        guard let request = try? AttachRequest(body, in: arena) else { return }
        let attached = try? attach(
            Interest(link: link, id: request.interest), to: request.channel, after: request.after,
            ownership: request.ownership, now: now)
        guard let attached, let after = attached.skippedTo ?? request.after else { return }
        try Disagreement.unless(
            zip([after.offset] + attached.missed.map(\.offset), attached.missed).allSatisfy {
                $0 < $1.offset && $1.offset <= attached.position.offset && $1.frame.readableBytes > 0
            },
            "\(attached.missed.count) missed between \(after) and \(attached.position)")
    }
}
