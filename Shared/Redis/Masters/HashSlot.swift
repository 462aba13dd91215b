/// The slot of a key in a Redis Cluster: CRC16 of the key, or of its hash tag, modulo the number of slots.
/// Pure.
package enum HashSlot {
    package static let count = 16_384

    package static func of(_ key: String) -> Int {
        var key = key
        return key.withUTF8 { bytes in
            let tagged = tag(in: bytes)
            return Int(crc16(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[tagged])))
                % count
        }
    }

    /// The CRC16 of a text without regard to braces.
    package static func checksum(of text: String) -> UInt16 {
        var text = text
        return text.withUTF8 { crc16(UnsafeRawBufferPointer($0)) }
    }

    /// What lies between the first brace and the next closing one, unless that is nothing.
    private static func tag(in bytes: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        let whole = 0..<bytes.count
        guard let open = bytes.firstIndex(of: UInt8(ascii: "{")),
            let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return whole }
        return (open + 1)..<close
    }

    /// CRC-16/XMODEM, as the specification of the Cluster has it.
    static func crc16(_ bytes: UnsafeRawBufferPointer) -> UInt16 {
        bytes.reduce(into: 0) { sum, byte in
            sum = (sum << 8) ^ table[Int(UInt8(truncatingIfNeeded: sum >> 8) ^ byte)]
        }
    }

    private static let table: [UInt16] = (0..<256).map { index in
        (0..<8).reduce(UInt16(index) << 8) { sum, _ in
            sum & 0x8000 == 0 ? sum << 1 : (sum << 1) ^ 0x1021
        }
    }
}
