import CProtobufC

/// A message that the generated C decoder reads into an arena. Views in it live until the arena's next
/// message.
package protocol ArenaDecodable {
    init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError)
}

extension ArenaDecodable {
    /// Runs one of the generated `…__unpack` functions.
    static func unpack<Message>(
        _ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena,
        with unpack: (
            UnsafeMutablePointer<ProtobufCAllocator>?, Int, UnsafePointer<UInt8>?
        ) -> UnsafeMutablePointer<Message>?
    ) throws(WireError) -> Message {
        arena.reset()
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let message = unpack(arena.allocator, bytes.count, start) else { throw .undecodable }
        return message.pointee
    }
}

/// A message that is read where it lies. Views in it live as long as the bytes.
package protocol ScanDecodable {
    /// Unknown fields are skipped. If a field occurs twice, the last one counts.
    init(scanning bytes: UnsafeRawBufferPointer) throws(WireError)
}
