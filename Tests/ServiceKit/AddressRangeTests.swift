import NIOCore
import RTMServiceKit
import Testing

@Suite("Ranges of addresses")
struct AddressRangeTests {
    private func contains(_ range: String, _ address: String) throws -> Bool {
        try #require(AddressRange(range)).contains(SocketAddress(ipAddress: address, port: 1))
    }

    @Test(
        "an address is in the range if its first bits are the range's",
        arguments: [
            ("10.0.0.7", "10.0.0.7", true), ("10.0.0.7", "10.0.0.8", false),
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("172.16.0.0/12", "172.31.255.255", true), ("172.16.0.0/12", "172.32.0.0", false),
            ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
            ("fd00::/8", "fd12:3456::1", true), ("fd00::/8", "fe80::1", false), ("::1", "::1", true),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("::/0", "::ffff:10.1.2.3", false),
        ])
    func membership(_ range: String, _ address: String, _ isIn: Bool) throws {
        #expect(try contains(range, address) == isIn)
    }

    @Test(
        "what is no range is none",
        arguments: [
            "", "/", "10.0.0", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/", "10.0.0.1/8/8", "::/129", "proxy",
        ])
    func none(_ text: String) { #expect(AddressRange(text) == nil) }
}
