import NIOCore
import RTMModel
import RTMWire

/// A topic as a connection has to know it.
struct TopicRank: Equatable {
    /// Where it lies in the loop's table of channels.
    let index: Int
    var priority: TopicPriority
}

/// The entries of topics that wait for a client whose socket is behind (C-14).
///
/// Each topic has a queue of its own, and the most urgent queue goes first. An entry never overtakes another
/// one of its topic, because the client continues from the position of the last one: an urgent entry takes
/// along what is queued before it. Queues of the same priority alternate. Nothing waits here while the socket
/// takes what comes. Pure.
struct TopicBacklog {
    private struct Queue {
        let index: Int
        /// That of the most urgent entry in it.
        var priority: TopicPriority
        var frames = ByteBuffer()
    }

    /// In the order of their turns.
    private var queues: [Queue] = []

    var isEmpty: Bool { queues.isEmpty }

    var bytes: Int { queues.reduce(0) { $0 + $1.frames.readableBytes } }

    /// Adds whole frames.
    mutating func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void) {
        let index = queues.firstIndex { $0.index == topic.index } ?? queues.endIndex
        if index == queues.endIndex { queues.append(Queue(index: topic.index, priority: topic.priority)) }
        queues[index].priority = min(queues[index].priority, topic.priority)
        encode(&queues[index].frames)
    }

    /// Takes out the frames that go next, about as many bytes as that, and one frame at least.
    mutating func next(bytes: Int) -> ByteBuffer? {
        guard let index = queues.indices.min(by: { queues[$0].priority < queues[$1].priority }) else {
            return nil
        }
        var queue = queues.remove(at: index)
        let frames = queue.frames.withUnsafeReadableBytes { memory in
            ByteBuffer(bytes: FrameReader.prefix(ofAbout: bytes, of: memory))
        }
        queue.frames.moveReaderIndex(forwardBy: frames.readableBytes)
        guard queue.frames.readableBytes > 0 else { return frames }
        // At most as much is moved as was sent since the last time.
        if queue.frames.readerIndex > queue.frames.readableBytes { queue.frames.discardReadBytes() }
        queues.append(queue)
        return frames
    }

    /// Takes out all that waits of a topic.
    mutating func take(_ index: Int) -> ByteBuffer? {
        guard let index = queues.firstIndex(where: { $0.index == index }) else { return nil }
        return queues.remove(at: index).frames
    }

    /// Takes out everything, the most urgent first.
    mutating func takeAll() -> ByteBuffer {
        defer { queues = [] }
        return queues.sorted { $0.priority < $1.priority }
            .reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1.frames) }
    }
}
