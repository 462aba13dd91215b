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

    private func flush() {
        guard outbound.readableBytes > 0 else { return }
        guard !isWriting else {
            if outbound.readableBytes > loop.configuration.limits.outboundBytesMax { cutOff() }
            return
        }
        var frames = ByteBuffer()
        swap(&frames, &outbound)
        put(frames)
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
            if self.outbound.readableBytes > 0 || !self.roomWaiters.isEmpty { self.schedule() }
        }
    }

    private var isWriting: Bool { writes > 0 }

    /// A few bytes that wait for the end of the turn don't count.
    var hasRoom: Bool { machine.isEnded || !isWriting && outbound.readableBytes <= Self.roomBytesMax }

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

    /// What was not written is dropped: the client knows its positions and can continue from there.
    private func cutOff() {
        outbound = ByteBuffer()
        let bytesMax = loop.configuration.limits.outboundBytesMax
        disconnect(
            Disconnect(
                .slowConsumer, "more than \(bytesMax) bytes wait for you; read faster, or subscribe to less"))
    }
}
