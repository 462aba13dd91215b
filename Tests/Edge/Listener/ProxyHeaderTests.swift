import NIOCore
import RTMTestSupport
import Testing

@testable import RTMEdgeServer

@Suite("The header of a load balancer")
struct ProxyHeaderTests {
    private typealias Refusal = ProxyHeader.Refusal

    private func read(_ bytes: [UInt8]) throws(ProxyHeader.Refusal) -> ProxyHeader? {
        try ProxyHeader(ByteBuffer(bytes: bytes).readableBytesView)
    }

    /// The example of the protocol's document for a client 192.0.2.33 of the port 4660.
    private let overIPv4 = ProxyHeaderBytes.header(
        family: 0x11, [192, 0, 2, 33, 198, 51, 100, 1, 0x12, 0x34, 0x1E, 0x1E])

    @Test("a client over IPv4, and over IPv6")
    func clients() throws {
        #expect(try read(overIPv4) == ProxyHeader(client: "192.0.2.33", length: 28))
        let address: [UInt8] = [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]
        let overIPv6 = ProxyHeaderBytes.header(family: 0x21, address + address + [0, 1, 0, 2])
        #expect(try read(overIPv6) == ProxyHeader(client: "2001:db8::7", length: 52))
    }

    @Test("fields behind the addresses belong to the header, and the client's bytes don't")
    func fields() throws {
        let addresses: [UInt8] = [10, 0, 0, 7, 10, 0, 0, 1, 0, 1, 0, 2]
        let field: [UInt8] = [0x04, 0, 3, 0, 0, 0]
        let bytes = ProxyHeaderBytes.header(family: 0x11, addresses + field)
        #expect(try read(bytes + Array("frame".utf8)) == ProxyHeader(client: "10.0.0.7", length: 34))
    }

    @Test("a balancer that speaks for itself, or for a unix socket, names no client")
    func ownConnections() throws {
        let check = ProxyHeaderBytes.header(command: 0, family: 0, [])
        #expect(try read(check) == ProxyHeader(client: nil, length: 16))
        let unspecified = ProxyHeaderBytes.header(family: 0, [1, 2, 3])
        #expect(try read(unspecified) == ProxyHeader(client: nil, length: 19))
        let unix = ProxyHeaderBytes.header(family: 0x31, [UInt8](repeating: 65, count: 216))
        #expect(try read(unix) == ProxyHeader(client: nil, length: 232))
    }

    @Test("it may come in pieces of any size")
    func pieces() throws {
        for count in overIPv4.indices { #expect(try read(Array(overIPv4[..<count])) == nil) }
    }

    @Test("what is no such header is refused with its first byte that isn't")
    func refused() {
        #expect(throws: Refusal.noSignature) { try read([0]) }
        #expect(throws: Refusal.noSignature) { try read(Array("PROXY TCP4 192.0.2.33".utf8)) }
        #expect(throws: Refusal.version(1)) {
            try read(ProxyHeaderBytes.header(version: 1, family: 0x11, []))
        }
        #expect(throws: Refusal.command(2)) { try read(ProxyHeaderBytes.header(command: 2, family: 0, [])) }
        #expect(throws: Refusal.tooShort(11)) {
            try read(ProxyHeaderBytes.header(family: 0x11, [UInt8](repeating: 1, count: 11)))
        }
        #expect(throws: Refusal.tooShort(12)) {
            try read(ProxyHeaderBytes.header(family: 0x21, [UInt8](repeating: 1, count: 12)))
        }
        let long = Array(overIPv4[..<14]) + [0x08, 0x01]
        #expect(throws: Refusal.tooLong(2049)) { try read(long) }
    }

    @Test("whatever comes is read or refused")
    func arbitrary() {
        var random = SeededGenerator(seed: 15)
        for _ in 0..<20_000 {
            var bytes = overIPv4
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
            }
            let cut = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            guard let header = try? read(cut) else { continue }
            #expect(header.length <= cut.count)
        }
    }
}
