import NIOCore
import RTMModel
import RTMServiceLink
import RTMWire

extension ConnectionHandler: SessionConnection, Flushable, DeadlineWheelMember {
    /// The first frames of a turn are not copied: all subscribers of a channel share one buffer (encode
    /// once), until one of them has something else to write too.
    func send(_ frames: ByteBuffer) {
        guard takesMore else { return }
        outbound.append(frames)
        added()
    }

    func write(_ encode: (inout ByteBuffer) -> Void) {
        guard takesMore else { return }
        encoded(encode)
        added()
    }

    /// Acknowledgements come before the messages of a turn. Written first, those of a full turn would hold up
    /// its messages by as many system calls.
    func acknowledge(_ encode: (inout ByteBuffer) -> Void) {
        guard takesMore else { return }
        encoded(encode)
        if isLagging { return added() }
        guard scheduledWrite == .none else { return }
        scheduledWrite = .last
        loop.endOfTurn.scheduleLastWrite(self)
    }

    private func encoded(_ encode: (inout ByteBuffer) -> Void) {
        if outbound.lacksMemory { outbound.reuse(loop.frameMemory.take()) }
        outbound.write(encode)
    }

    /// No page is a reason to cut a client off, because it is sent only while the client is writable.
    func send(_ page: RequestedPage) {
        guard takesMore else { return }
        outbound.append(page)
        schedule()
    }

    /// Beside what else may wait for a client that is behind, a quarter as much presence may.
    func reservePresence(_ bytes: Int) -> Bool {
        let bytesMax = loop.configuration.limits.outboundBytesMax / 4
        return !isLagging || outbound.reservePresence(bytes, bytesMax: bytesMax)
    }

    private var takesMore: Bool { !machine.isEnded && !isOverfull }

    /// Something was added that the client hasn't asked for. What is too much is dropped at once, and the end
    /// of the turn says so: nothing is written, and no session ends, while a batch goes to its subscribers.
    private func added() {
        if isLagging,
            outbound.bytes - outbound.presenceBytes > loop.configuration.limits.outboundBytesMax
        {
            outbound.drop()
            isOverfull = true
        }
        schedule()
    }

    /// Only what comes while the socket is behind waits by priority (C-14): what was handed to it can't be
    /// overtaken any more.
    func send(_ frames: ByteBuffer, of topic: TopicRank) {
        guard isLagging else { return send(frames) }
        write(of: topic) { $0.writeImmutableBuffer(frames) }
    }

    func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void) {
        guard isLagging, takesMore else { return write(encode) }
        outbound.write(of: topic, encode)
        added()
    }

    func release(_ topic: Int) { outbound.release(topic) }

    private func schedule() {
        guard scheduledWrite != .now else { return }
        scheduledWrite = .now
        loop.endOfTurn.scheduleWrite(self)
    }

    /// With a message behind an acknowledgement it is called twice, and finds nothing the second time.
    func flushAtEndOfTurn() {
        scheduledWrite = .none
        if isOverfull {
            cutOff(.slowConsumer(bytesMax: loop.configuration.limits.outboundBytesMax))
        } else {
            flush()
        }
        if isWritable { callWritableWaiters() }
    }

    /// A client that has kept up is given all that has come in a turn. One that is behind is given a chunk
    /// when its socket has taken the one before, and so is every page. What isn't of a topic goes before what
    /// waits of topics.
    private func flush() {
        while !isWriting || !isLagging && !outbound.beginsWithPage, let chunk = outbound.next() { put(chunk) }
        while !isWriting, let frames = outbound.takeBacklog(bytes: OutboundQueue.chunkBytesMax) {
            put(OutboundQueue.Chunk(frames: frames, isShared: false))
        }
        isLagging = isWriting || !outbound.isEmpty
        if !isLagging { outbound.caughtUp() }
        charge(isLagging && !machine.isEnded ? handedBytes + outbound.heldBytes : 0)
    }

    private func put(_ chunk: OutboundQueue.Chunk) {
        let count = chunk.frames.readableBytes
        loop.metrics.bytesSent(count)
        let taken = isWriting || context == nil ? 0 : socket?.send(chunk.frames) ?? 0
        if taken < count { return putRest(of: chunk, behind: taken) }
        if !chunk.isShared { loop.frameMemory.keep(chunk.frames) }
    }

    /// What the socket doesn't take goes through NIO.
    private func putRest(of chunk: OutboundQueue.Chunk, behind taken: Int) {
        guard let context else { return }
        var frames = chunk.frames
        frames.moveReaderIndex(forwardBy: taken)
        deadline.stalls(frames.readableBytes, behindOthers: isWriting, now: loop.endOfTurn.now)
        // TLS and WebSocket make bytes of their own.
        let held = chunk.isShared && isOnSocket ? 0 : frames.readableBytes
        writes += 1
        handedBytes += held
        let done = context.writeAndFlush(wrapOutboundOut(frames)).assumeIsolated()
        done.whenComplete { [charge = chunk.charge] _ in
            withExtendedLifetime(charge) {}
            self.writes -= 1
            self.handedBytes -= held
            if !self.isWriting { self.deadline.stallEnded() }
            if self.isLagging || self.outbound.hasWaiters { self.schedule() }
        }
    }

    /// Counts what the connection holds among what its loop holds.
    func charge(_ bytes: Int) {
        guard bytes != chargedBytes else { return }
        loop.outboundMemory.change(by: bytes - chargedBytes)
        chargedBytes = bytes
    }

    var waitingBytes: Int { handedBytes + outbound.bytes + outbound.pageBytes }

    private var isWriting: Bool { writes > 0 }

    /// A few bytes that wait for the end of the turn don't count.
    var isWritable: Bool { machine.isEnded || !isLagging && outbound.frameBytes <= Self.writableBytesMax }

    func whenWritable(_ body: @escaping () -> Void) {
        guard !machine.isEnded else { return body() }
        outbound.await(body)
        schedule()
    }

    func callWritableWaiters() { for waiter in outbound.takeWaiters() { waiter() } }

    /// What was not written is dropped: the client knows its positions and can continue from there.
    func cutOff(_ reason: Disconnect) {
        outbound.drop()
        disconnect(reason)
    }
}

/// Whether a connection is written to at the end of the turn, and with whom.
enum ScheduledWrite: UInt8 {
    case none
    /// Behind those that get messages.
    case last
    case now
}

extension Disconnect {
    fileprivate static func slowConsumer(bytesMax: Int) -> Disconnect {
        Disconnect(
            .slowConsumer, "more than \(bytesMax) bytes wait for you; read faster, or subscribe to less")
    }
}
