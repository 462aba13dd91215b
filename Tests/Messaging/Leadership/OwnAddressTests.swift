import NIOCore
import NIOPosix
import RTMRedis
import Testing

@testable import RTMMessagingServer

@Suite("The address of a node that listens on all addresses") struct OwnAddressTests {
    @Test("it is the one with which the node reaches its Redis")
    func route() async throws {
        // The way to an address of this machine begins at that address, whatever networks there are.
        let devices = try System.enumerateDevices().compactMap { $0.address }
        let own = devices.filter { $0.protocol == .inet }.compactMap(\.ipAddress)
            .filter { !$0.hasPrefix("127.") }
        for address in own {
            let place = OwnAddress(towards: .server(.tcp(host: address, port: 6379)))
            #expect(await place.find() == address)
        }
    }

    @Test(
        "a Redis on the same machine says nothing about other machines",
        arguments: ["127.0.0.1", "localhost", "::1"])
    func loopback(_ host: String) async {
        #expect(await OwnAddress(towards: .server(.tcp(host: host, port: 6379))).find() == nil)
        #expect(await OwnAddress(towards: .server(.unixSocket("/run/redis.sock"))).find() == nil)
    }

    @Test("a name that nobody knows is passed over, and the next server of a Cluster or sentinel is asked")
    func unknown() async {
        let nobody = RedisEndpoint.tcp(host: "nobody.invalid", port: 6379)
        #expect(await OwnAddress(towards: .cluster(seeds: [nobody])).find() == nil)
        let places = OwnAddress(towards: .sentinel([nobody, .tcp(host: "127.0.0.1", port: 1)], master: "m"))
        #expect(places.towards.count == 2)
    }
}
