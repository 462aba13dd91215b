import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

extension ConnectionHandler: SessionConnection, Flushable, DeadlineWheelMember {
    /// The first frames of a turn are not copied: all subscribers of a channel share one buffer (encode
    /// once), until one of them has something else to write too.
    func send(_ frames: ByteBuffer) {
        guard !machine.isEnded else { return }
        if frames.readableBytes > Self.roomBytesMax, !isWriting, !reader.isReading {
            // The snapshots of big channels aren't copied either: the loop's sessions share them.
            flush()
            return put(frames)
        }
        outbound.append(frames)
        schedule()
    }

    func write(_ encode: (inout ByteBuffer) -> Void) {
        guard !machine.isEnded else { return }
        outbound.write(encode)
        schedule()
    }

    /// Only what comes while the socket is behind waits by priority (C-14): what was handed to it can't be
    /// overtaken any more.
    func send(_ frames: ByteBuffer, of topic: TopicRank) {
        guard isBehind else { return send(frames) }
        write(of: topic) { $0.writeImmutableBuffer(frames) }
    }

    func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void) {
        guard isBehind, !machine.isEnded else { return write(encode) }
        outbound.write(of: topic, encode)
        schedule()
    }

    func release(_ topic: Int) { outbound.release(topic) }

    private var isBehind: Bool { isWriting || outbound.hasBacklog }

    private func schedule() {
        guard !isScheduled else { return }
        isScheduled = true
        loop.endOfTurn.scheduleWrite(self)
    }

    func flushAtEndOfTurn() {
        isScheduled = false
        flush()
        if hasRoom { callRoomWaiters() }
    }

    /// What isn't of a topic goes before what waits of topics.
    private func flush() {
        guard !isWriting else {
            if outbound.bytes > loop.configuration.limits.outboundBytesMax { cutOff() }
            return
        }
        if let frames = outbound.takeFrames() { put(frames) }
        while !isWriting, let frames = outbound.takeBacklog(bytes: Self.roomBytesMax) { put(frames) }
    }

    private func put(_ frames: ByteBuffer) {
        guard let context else { return }
        var frames = frames
        loop.metrics.bytesSent(frames.readableBytes)
        if !isWriting, let taken = socket?.send(frames) {
            frames.moveReaderIndex(forwardBy: taken)
            guard frames.readableBytes > 0 else { return }
        }
        deadline.stalls(frames.readableBytes, behindOthers: isWriting, now: loop.endOfTurn.now)
        writes += 1
        context.writeAndFlush(wrapOutboundOut(frames)).assumeIsolated().whenComplete { _ in
            self.writes -= 1
            if !self.isWriting { self.deadline.stallEnded() }
            if !self.outbound.isEmpty || self.outbound.hasWaiters { self.schedule() }
        }
    }

    private var isWriting: Bool { writes > 0 }

    /// A few bytes that wait for the end of the turn don't count.
    var hasRoom: Bool { machine.isEnded || !isBehind && outbound.frameBytes <= Self.roomBytesMax }

    func whenRoom(_ body: @escaping () -> Void) {
        guard !machine.isEnded else { return body() }
        outbound.await(body)
        schedule()
    }

    func callRoomWaiters() { for waiter in outbound.takeWaiters() { waiter() } }

    /// What was not written is dropped: the client knows its positions and can continue from there.
    private func cutOff() {
        outbound.drop()
        disconnect(.slowConsumer(bytesMax: loop.configuration.limits.outboundBytesMax))
    }
}

extension Disconnect {
    fileprivate static func slowConsumer(bytesMax: Int) -> Disconnect {
        Disconnect(
            .slowConsumer, "more than \(bytesMax) bytes wait for you; read faster, or subscribe to less")
    }
}
