/// Headers of the PROXY protocol, version 2, right ones and wrong ones.
package enum ProxyHeaderBytes {
    package static func header(
        version: UInt8 = 2, command: UInt8 = 1, family: UInt8, _ rest: [UInt8]
    ) -> [UInt8] {
        let signature: [UInt8] = [
            0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
        ]
        let length = [UInt8(rest.count >> 8), UInt8(rest.count & 0xFF)]
        return signature + [version << 4 | command, family] + length + rest
    }

    /// A client of this IPv4 address.
    package static func client(_ address: [UInt8]) -> [UInt8] {
        header(family: 0x11, address + [10, 0, 0, 1, 0x12, 0x34, 0x1E, 0x1E])
    }
}
