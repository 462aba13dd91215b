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
        if outbound.readableBytes == 0 {
            outbound = frames
        } else {
            outbound.writeImmutableBuffer(frames)
        }
        schedule()
    }

    func write(_ encode: (inout ByteBuffer) -> Void) {
        guard !machine.isEnded else { return }
        encode(&outbound)
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
        backlog.write(of: topic, encode)
        schedule()
    }

    func release(_ topic: Int) {
        guard !backlog.isEmpty, let frames = backlog.take(topic) else { return }
        write { $0.writeImmutableBuffer(frames) }
    }

    private var isBehind: Bool { isWriting || !backlog.isEmpty }

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
        guard outbound.readableBytes > 0 || !backlog.isEmpty else { return }
        guard !isWriting else {
            let waiting = outbound.readableBytes + (backlog.isEmpty ? 0 : backlog.bytes)
            if waiting > loop.configuration.limits.outboundBytesMax { cutOff() }
            return
        }
        if outbound.readableBytes > 0 {
            var frames = ByteBuffer()
            swap(&frames, &outbound)
            put(frames)
        }
        while !isWriting, let frames = backlog.next(bytes: Self.roomBytesMax) { put(frames) }
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
            let hasMore = self.outbound.readableBytes > 0 || !self.backlog.isEmpty
            if hasMore || !self.roomWaiters.isEmpty { self.schedule() }
        }
    }

    private var isWriting: Bool { writes > 0 }

    /// A few bytes that wait for the end of the turn don't count.
    var hasRoom: Bool { machine.isEnded || !isBehind && outbound.readableBytes <= Self.roomBytesMax }

    func whenRoom(_ body: @escaping () -> Void) {
        guard !machine.isEnded else { return body() }
        roomWaiters.append(body)
        schedule()
    }

    func callRoomWaiters() {
        guard !roomWaiters.isEmpty else { return }
        let waiters = roomWaiters
        roomWaiters = []
        for waiter in waiters { waiter() }
    }

    func dropUnsent() {
        outbound = ByteBuffer()
        backlog = TopicBacklog()
    }

    /// What was not written is dropped: the client knows its positions and can continue from there.
    private func cutOff() {
        dropUnsent()
        let bytesMax = loop.configuration.limits.outboundBytesMax
        disconnect(
            Disconnect(
                .slowConsumer, "more than \(bytesMax) bytes wait for you; read faster, or subscribe to less"))
    }
}
