import NIOCore
import RTMServiceKit
import Testing

@testable import RTMWebhookCall

@Suite("The addresses that webhooks may connect to")
struct AddressRulesTests {
    private func admits(_ address: String, _ allowed: [String] = []) throws -> Bool {
        try AddressRules(allowed: allowed.map { try #require(AddressRange($0)) }).admits(
            SocketAddress(ipAddress: address, port: 443))
    }

    @Test(
        "public ones",
        arguments: [
            "93.184.216.34", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111",
            "::ffff:93.184.216.34",
        ])
    func admitted(address: String) throws { #expect(try admits(address)) }

    @Test(
        "private, loopback, link-local, shared, metadata, and those that carry another address",
        arguments: [
            "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.255",
            "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1",
            "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255", "168.63.129.16",
            "::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "2001::1", "2002:7f00:1::1",
            "3fff::1",
        ])
    func refused(address: String) throws { #expect(try !admits(address)) }

    @Test("an operator allows networks, and these alone")
    func allowed() throws {
        #expect(try admits("10.1.2.3", ["10.1.0.0/16"]))
        #expect(try !admits("10.2.2.3", ["10.1.0.0/16"]))
        #expect(try admits("fd00::5", ["10.0.0.0/8", "fd00::/8"]))
        #expect(try admits("127.0.0.1", ["127.0.0.1/32"]))
        #expect(try !admits("127.0.0.2", ["127.0.0.1/32"]))
        #expect(try admits("::ffff:10.1.2.3", ["10.1.0.0/16"]))
    }
}
