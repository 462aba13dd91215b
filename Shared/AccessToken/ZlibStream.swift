import CZlib

/// zlib in one call, into a buffer whose size is fixed before: a bomb fills the buffer and no more.
enum ZlibStream {
    enum Inflated: Equatable {
        case bytes([UInt8])
        case moreThan(Int)
        case damaged
        /// The stream is whole, and this many bytes follow it.
        case followed(by: Int)
    }

    static func inflate(_ stream: [UInt8], upTo bytesMax: Int) -> Inflated {
        var status = Z_OK
        var read = UInt(stream.count)
        let bytes = [UInt8](unsafeUninitializedCapacity: bytesMax) { buffer, count in
            var written = UInt(bytesMax)
            status = uncompress2(buffer.baseAddress, &written, stream, &read)
            count = status == Z_OK ? Int(written) : 0
        }
        switch status {
        case Z_OK where read == UInt(stream.count): return .bytes(bytes)
        case Z_OK: return .followed(by: stream.count - Int(read))
        case Z_BUF_ERROR: return .moreThan(bytesMax)
        default: return .damaged
        }
    }

    static func deflate(_ bytes: [UInt8]) -> [UInt8] {
        let bound = compressBound(UInt(bytes.count))
        return [UInt8](unsafeUninitializedCapacity: Int(bound)) { buffer, count in
            var written = bound
            let status = compress(buffer.baseAddress, &written, bytes, UInt(bytes.count))
            precondition(status == Z_OK, "zlib fails into a buffer of its bound only for want of memory")
            count = Int(written)
        }
    }
}
