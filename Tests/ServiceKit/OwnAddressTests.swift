import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import RTMServiceKit

@Suite("The address of a node that listens on all addresses") struct OwnAddressTests {
    @Test("it is the one with which the node reaches its database")
    func route() async throws {
        // The way to an address of this machine begins at that address, whatever networks there are.
        let devices = try System.enumerateDevices().compactMap { $0.address }
        let own = devices.filter { $0.protocol == .inet }.compactMap(\.ipAddress)
            .filter { !$0.hasPrefix("127.") }
        for address in own {
            let place = OwnAddress(towards: [HostPort(host: address, port: 6379)])
            #expect(await place.find() == address)
        }
    }

    @Test(
        "a database on the same machine says nothing about other machines",
        arguments: ["127.0.0.1", "localhost", "::1"])
    func loopback(_ host: String) async {
        #expect(await OwnAddress(towards: [HostPort(host: host, port: 6379)]).find() == nil)
    }

    @Test("neither does a unix socket, nor what is no socket")
    func local() {
        var ends: [CInt] = [-1, -1]
        #expect(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #expect(OwnAddress.of(ends[0]) == nil)
        for end in ends { close(end) }
        #expect(OwnAddress.of(-1) == nil)
    }

    @Test("a name that nobody knows is passed over, and the next place is asked")
    func unknown() async throws {
        let nobody = HostPort(host: "nobody.invalid", port: 6379)
        #expect(await OwnAddress(towards: [nobody]).find() == nil)
        let own = try System.enumerateDevices().compactMap { $0.address?.ipAddress }
            .first { !$0.hasPrefix("127.") && !$0.contains(":") }
        guard let own else { return }
        #expect(await OwnAddress(towards: [nobody, HostPort(host: own, port: 1)]).find() == own)
    }
}
