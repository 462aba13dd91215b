package import RTMModel

/// Reads a field of a publication that is only passed on.
package enum PublicationTime {
    /// The timestamp of the first frame in milliseconds (UTC), if that frame is a publication.
    package static func first(in frames: UnsafeRawBufferPointer) -> UInt64? {
        PublicationField.first(in: frames, Schema.Publication.timestampMs.number).flatMap { try? $0.uint64 }
    }
}

/// Reads who published what is only passed on.
package enum PublicationPublisher {
    /// The publisher of the first frame, if that frame is a publication. It lives as long as the frames.
    package static func first(in frames: UnsafeRawBufferPointer) -> WireText? {
        PublicationField.first(in: frames, Schema.Publication.publisher.number).flatMap { try? $0.view }
    }
}

/// Reads how urgent a message is that is only passed on.
package enum PublicationPriority {
    /// The priority of the first frame, if that frame is a publication with a message.
    package static func first(in frames: UnsafeRawBufferPointer) -> TopicPriority {
        guard
            let message = PublicationField.first(in: frames, Schema.Publication.message.number),
            case .bytes(let content) = message.value
        else { return .normal }
        var scanner = ProtobufScanner(content)
        while let field = try? scanner.next() {
            guard field.number == Schema.Message.priority.number else { continue }
            return (try? field.enumeration).map(TopicPriority.init(wire:)) ?? .normal
        }
        return .normal
    }
}

extension TopicPriority {
    /// A number that this version doesn't know means the default.
    init(wire number: Int) { self = TopicPriority(rawValue: number) ?? .normal }
}

private enum PublicationField {
    static func first(in frames: UnsafeRawBufferPointer, _ number: UInt32) -> ProtobufScanner.Field? {
        guard frames.count > FrameReader.prefixLength else { return nil }
        let length = Int(UInt32(bigEndian: frames.loadUnaligned(as: UInt32.self)))
        let rest = frames.dropFirst(FrameReader.prefixLength)
        guard length <= rest.count else { return nil }
        return try? field(number, of: UnsafeRawBufferPointer(rebasing: rest.prefix(length)))
    }

    private static func field(
        _ number: UInt32, of frame: UnsafeRawBufferPointer
    ) throws(WireError) -> ProtobufScanner.Field? {
        var scanner = ProtobufScanner(frame)
        while let field = try scanner.next() {
            guard field.number == Schema.ServerFrame.publication.number else { continue }
            guard case .bytes(let content) = field.value else { return nil }
            var publication = ProtobufScanner(content)
            while let field = try publication.next() {
                if field.number == number { return field }
            }
        }
        return nil
    }
}
