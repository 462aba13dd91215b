import NIOCore
import RTMModel
import RTMWire

/// A topic as a connection has to know it.
struct TopicRank: Equatable {
    /// Where it lies in the loop's table of channels.
    let place: Int
    var priority: TopicPriority
}

/// The entries of topics that wait for a client whose socket is behind (C-14).
///
/// Each topic has a line of its own, and the most urgent line goes first. An entry never overtakes another
/// one of its topic, because the client goes on from the position of the last one: an urgent entry takes
/// along what stands before it. Lines of the same priority take turns. Nothing waits here while the socket
/// takes what comes. Pure.
struct TopicBacklog {
    private struct Line {
        let place: Int
        /// That of the most urgent entry in it.
        var priority: TopicPriority
        var frames = ByteBuffer()
    }

    /// In the order of their turns.
    private var lines: [Line] = []

    var isEmpty: Bool { lines.isEmpty }

    var bytes: Int { lines.reduce(0) { $0 + $1.frames.readableBytes } }

    /// Adds whole frames.
    mutating func write(of topic: TopicRank, _ encode: (inout ByteBuffer) -> Void) {
        let index = lines.firstIndex { $0.place == topic.place } ?? lines.endIndex
        if index == lines.endIndex { lines.append(Line(place: topic.place, priority: topic.priority)) }
        lines[index].priority = min(lines[index].priority, topic.priority)
        encode(&lines[index].frames)
    }

    /// Takes out the frames that go next, about as many bytes as that, and one frame at least.
    mutating func next(bytes: Int) -> ByteBuffer? {
        guard let index = lines.indices.min(by: { lines[$0].priority < lines[$1].priority }) else {
            return nil
        }
        var line = lines.remove(at: index)
        let frames = line.frames.withUnsafeReadableBytes { memory in
            ByteBuffer(bytes: FrameReader.prefix(ofAbout: bytes, of: memory))
        }
        line.frames.moveReaderIndex(forwardBy: frames.readableBytes)
        guard line.frames.readableBytes > 0 else { return frames }
        // At most as much is moved as was sent since the last time.
        if line.frames.readerIndex > line.frames.readableBytes { line.frames.discardReadBytes() }
        lines.append(line)
        return frames
    }

    /// Takes out all that waits of a topic.
    mutating func take(_ place: Int) -> ByteBuffer? {
        guard let index = lines.firstIndex(where: { $0.place == place }) else { return nil }
        return lines.remove(at: index).frames
    }

    /// Takes out everything, the most urgent first.
    mutating func takeAll() -> ByteBuffer {
        defer { lines = [] }
        return lines.sorted { $0.priority < $1.priority }
            .reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1.frames) }
    }
}
