import NIOCore
import RTMModel
import RTMWire
import Testing

@testable import RTMEdgeServer

/// The socket of a session that writes down what it is sent.
final class RecordingConnection: SessionConnection {
    private var sent: [ByteBuffer] = []

    func send(_ frames: ByteBuffer) { sent.append(frames) }
    func write(_ encode: (inout ByteBuffer) -> Void) {
        var frames = ByteBuffer()
        encode(&frames)
        sent.append(frames)
    }
    func loginSucceeded(
        _ session: Session, inbox position: StreamPosition, gap: Bool, _ requestID: UInt64
    ) {}
    func refuseLogin(_ error: RTMError, _ requestID: UInt64) {}
    var isWritable: Bool { true }
    func whenWritable(_ body: @escaping () -> Void) { body() }
    func pauseReading() {}
    func resumeReading() {}
    func disconnect(_ reason: Disconnect) {}
    func replaced() {}

    /// Everything since the last call, in order.
    func takeSent() -> ByteBuffer {
        defer { sent = [] }
        return sent.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
    }
}

/// What stands for a frame in these tests: it tells which one it is.
struct Record: Hashable {
    var channel: ChannelKey
    var position: StreamPosition
    var isGap = false

    var frame: ByteBuffer {
        var frame = ByteBuffer()
        frame.writeInteger(UInt32(2 + channel.name.utf8.count + 16))
        frame.writeInteger(UInt8(isGap ? 1 : 0))
        frame.writeInteger(UInt8(channel.name.utf8.count))
        frame.writeString(channel.name)
        frame.writeInteger(position.epoch)
        frame.writeInteger(position.offset)
        return frame
    }

    init(channel: ChannelKey, position: StreamPosition, isGap: Bool = false) {
        self.channel = channel
        self.position = position
        self.isGap = isGap
    }

    /// The next record, nil at the end.
    init?(_ frames: inout ByteBuffer) {
        guard frames.readInteger(as: UInt32.self) != nil,
            let kind = frames.readInteger(as: UInt8.self), let length = frames.readInteger(as: UInt8.self),
            let name = frames.readString(length: Int(length)),
            let epoch = frames.readInteger(as: UInt64.self),
            let offset = frames.readInteger(as: UInt64.self)
        else { return nil }
        self.init(
            channel: .test(name), position: StreamPosition(epoch: epoch, offset: offset), isGap: kind == 1)
    }
}

extension ChannelKey {
    static func test(_ name: String) -> ChannelKey { ChannelKey(appID: "app", type: .message, name: name) }
}

/// A session, and what it must have seen.
final class Viewer {
    /// From the moment a subscription was answered.
    private struct Subscribed {
        var features: SubscriptionFeatures
        /// Up to here everything was shown, or was not for this session.
        var seen: StreamPosition
        /// False while it is still shown what it missed.
        var isLive: Bool
    }

    let key: SessionKey
    let connection = RecordingConnection()
    private let what: String
    private var subscribed: [ChannelKey: Subscribed] = [:]
    private(set) var entryCount = 0
    private(set) var gapCount = 0

    init(id: UInt64, _ what: String) {
        self.what = "\(what), session \(id)"
        key = .test(id)
    }

    var id: UInt64 { key.id.rawValue }
    var channels: [ChannelKey] { subscribed.keys.sorted { $0.name < $1.name } }

    func seen(_ key: ChannelKey) -> StreamPosition? { subscribed[key]?.seen }
    func isLive(_ key: ChannelKey) -> Bool { subscribed[key]?.isLive == true }

    // MARK: What happens to the subscription; to be told before anything that follows is sent

    func begins(_ key: ChannelKey, _ features: SubscriptionFeatures, at position: StreamPosition) {
        subscribed[key] = Subscribed(features: features, seen: position, isLive: false)
    }

    /// From here on every entry comes, until it is paused.
    func isLive(_ key: ChannelKey, _ isLive: Bool) { subscribed[key]?.isLive = isLive }

    func ends(_ key: ChannelKey) { subscribed[key] = nil }

    // MARK: Judging

    /// Looks at what was sent since the last time.
    ///
    /// - Parameter starts: by epoch, up to where entries have been lost.
    func look(_ archive: [UInt64: [FakeMessaging.Entry]], lostUpTo starts: [UInt64: UInt64]) {
        var frames = connection.takeSent()
        while let record = Record(&frames) {
            guard let seen = subscribed[record.channel]?.seen else {
                Issue.record("\(what): \(record) outside a subscription")
                continue
            }
            if record.isGap {
                gapCount += 1
                expectReason(
                    record.channel, after: seen, record.position, archive, lostUpTo: starts, isOwn: true)
                subscribed[record.channel]?.seen = record.position
                continue
            }
            entryCount += 1
            let next = StreamPosition(epoch: seen.epoch, offset: record.position.offset - 1)
            #expect(
                record.position.offset > seen.offset, "\(what): \(record) again or too late, after \(seen)")
            #expect(record.position.epoch == seen.epoch, "\(what): \(record) comes before its gap is said")
            expectNothingMissed(record.channel, upTo: next, archive)
            #expect(isFor(record.channel, record.position, archive), "\(what): \(record) is not for it")
            subscribed[record.channel]?.seen.offset = record.position.offset
        }
        #expect(frames.readableBytes == 0)
    }

    /// A gap is said where something is lost that the session wants to see, and only then.
    /// Behind one that leads into another log nothing of that log is passed over.
    ///
    /// - Parameter isOwn: whether its own entries may be what is lost: messaging doesn't know whose entries
    ///   they are when it tells the whole edge.
    func expectReason(
        _ key: ChannelKey, after seen: StreamPosition?, _ position: StreamPosition,
        _ archive: [UInt64: [FakeMessaging.Entry]], lostUpTo starts: [UInt64: UInt64], isOwn: Bool = false
    ) {
        // Whoever began where the channel stood isn't told from where a gap is counted.
        guard let seen else { return }
        if seen.epoch == position.epoch {
            let lost = (archive[seen.epoch] ?? []).prefix(Int(starts[seen.epoch] ?? 0))
            let features = subscribed[key]?.features ?? []
            let isReason = lost.dropFirst(Int(seen.offset)).contains {
                isOwn ? features.contains($0.feature) : $0.isFor(id, features)
            }
            #expect(isReason, "\(what): nothing is lost after \(seen)")
        } else {
            let lost = starts[position.epoch] ?? 0
            #expect(position.offset <= lost, "\(what): \(position) is no beginning of a log")
        }
    }

    /// Nothing up to the position that was for this session has been left out.
    func expectNothingMissed(
        _ key: ChannelKey, upTo position: StreamPosition, _ archive: [UInt64: [FakeMessaging.Entry]],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard let seen = subscribed[key]?.seen, seen.epoch == position.epoch, seen.offset < position.offset
        else { return }
        for offset in seen.offset + 1...position.offset {
            let missed = StreamPosition(epoch: position.epoch, offset: offset)
            #expect(
                !isFor(key, missed, archive), "\(what): missed \(missed) of \(key.name)",
                sourceLocation: sourceLocation)
        }
        subscribed[key]?.seen = position
    }

    private func isFor(
        _ key: ChannelKey, _ position: StreamPosition, _ archive: [UInt64: [FakeMessaging.Entry]]
    ) -> Bool {
        guard let entries = archive[position.epoch], position.offset <= entries.count, position.offset > 0,
            let features = subscribed[key]?.features
        else { return false }
        return entries[Int(position.offset) - 1].isFor(id, features)
    }
}

extension SessionKey {
    static func test(_ id: UInt64) -> SessionKey {
        SessionKey(id: SessionID(rawValue: id), slot: UInt32(id))
    }
}

extension Application {
    static let forTest = Application(id: "app", subscriptionsMax: 50, rates: .unlimited)
}
