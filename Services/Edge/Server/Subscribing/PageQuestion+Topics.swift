import NIOCore
import RTMModel
import RTMWire

extension PageQuestion {
    /// The frames of a page that the subscriber may see: in a topic those of the publishers that it wants
    /// (C-8).
    func wanted(_ frames: WireText) -> ByteBuffer {
        guard channel.type == .topic else { return ByteBuffer(bytes: frames.bytes) }
        let publishers = Set(publishers)
        var wanted = ByteBuffer()
        var rest = frames.bytes
        while !rest.isEmpty {
            let next = FrameReader.dropFirst(1, of: rest)
            guard next.count < rest.count else { break }
            let frame = UnsafeRawBufferPointer(rebasing: rest.prefix(rest.count - next.count))
            if let publisher = PublicationPublisher.first(in: frame), publishers.contains(publisher.string) {
                wanted.writeBytes(frame)
            }
            rest = next
        }
        return wanted
    }
}
