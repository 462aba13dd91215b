import CProtobufC

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// protobuf-c hands out texts as C strings, so a text with a NUL in it would end at the NUL, which is another
/// name than the one that was sent. Such frames are refused.
///
/// Most frames have no zero byte at all, which one `memchr` finds out. The others are walked along their
/// descriptor.
enum TextWithNul {
    static func isPresent(
        in bytes: UnsafeRawBufferPointer, of descriptor: UnsafePointer<ProtobufCMessageDescriptor>?
    ) -> Bool {
        guard let descriptor, hasZero(bytes) else { return false }
        var scanner = ProtobufScanner(bytes)
        do throws(WireError) {
            while let field = try scanner.next() {
                if isPresent(in: field, of: descriptor) { return true }
            }
            return false
        } catch {
            // protobuf-c reads keys that are not protobuf, such as field number 0. What follows such a key
            // can't be searched, so the frame doesn't pass.
            return true
        }
    }

    private static func isPresent(
        in field: ProtobufScanner.Field, of descriptor: UnsafePointer<ProtobufCMessageDescriptor>
    ) -> Bool {
        guard case .bytes(let value) = field.value,
            let known = protobuf_c_message_descriptor_get_field(descriptor, UInt32(field.number))
        else { return false }
        switch known.pointee.type {
        case PROTOBUF_C_TYPE_STRING:
            return hasZero(value)
        case PROTOBUF_C_TYPE_MESSAGE:
            let nested = known.pointee.descriptor?.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
            return isPresent(in: value, of: nested)
        default:
            return false
        }
    }

    static func hasZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return false }
        return memchr(start, 0, bytes.count) != nil
    }
}
