import Testing

@testable import RTMClient

/// Which way a second connection takes (N-5).
struct SecondWaysTests {
    private let interfaces = NetworkInterfaces(addresses: [
        ("eth0", "10.0.0.5"), ("eth0", "2001:db8::5"), ("wlan0", "192.168.1.5"), ("wwan0", "100.64.0.5"),
    ])

    private func ways(
        _ path: SecondPath, servers: Int, server: Int = 0, address: String? = "10.0.0.5"
    ) -> [SecondWays.Way] {
        SecondWays(path, servers: servers, server: server, address: address, interfaces: interfaces).all
    }

    private func way(_ server: Int, _ interface: String? = nil) -> SecondWays.Way {
        SecondWays.Way(server: server, interface: interface)
    }

    @Test("N-5: another server is never the one in use, and each has its turn")
    func otherServer() {
        #expect(ways(.otherServer, servers: 1).isEmpty)
        #expect(ways(.otherServer, servers: 2, server: 1) == [way(0)])
        #expect(ways(.otherServer, servers: 3, server: 1) == [way(2), way(0)])
    }

    @Test("N-5: another interface is never the one in use; then come the other servers")
    func otherInterface() {
        let any = SecondPath.otherInterface()
        #expect(ways(any, servers: 1) == [way(0, "wlan0"), way(0, "wwan0")])
        #expect(
            ways(any, servers: 2, address: "192.168.1.5") == [way(0, "eth0"), way(0, "wwan0"), way(1)])
    }

    @Test("N-5: a named interface stands by, or the routes of the device while it is in use")
    func namedInterface() {
        let wlan = SecondPath.otherInterface(named: "wlan0")
        #expect(ways(wlan, servers: 2) == [way(0, "wlan0")])
        #expect(ways(wlan, servers: 2, address: "192.168.1.5") == [way(0)])
    }
}
