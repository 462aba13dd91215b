/// Reads the time of a publication that is only passed on.
package enum PublicationTime {
    /// The timestamp of the first frame in milliseconds (UTC), if that frame is a publication.
    package static func first(in frames: UnsafeRawBufferPointer) -> UInt64? {
        guard frames.count > FrameReader.prefixLength else { return nil }
        let length = Int(UInt32(bigEndian: frames.loadUnaligned(as: UInt32.self)))
        let rest = frames.dropFirst(FrameReader.prefixLength)
        guard length <= rest.count else { return nil }
        return try? timestamp(of: UnsafeRawBufferPointer(rebasing: rest.prefix(length)))
    }

    private static func timestamp(of frame: UnsafeRawBufferPointer) throws(WireError) -> UInt64? {
        var scanner = ProtobufScanner(frame)
        while let field = try scanner.next() {
            guard field.number == Schema.ServerFrame.publication.number else { continue }
            guard case .bytes(let content) = field.value else { return nil }
            var publication = ProtobufScanner(content)
            while let field = try publication.next() {
                if field.number == Schema.Publication.timestampMs.number { return try field.uint64 }
            }
        }
        return nil
    }
}
