import NIOCore
import Testing

@testable import RTMClient

/// What a change of the network means to a client (T7).
struct NetworkRouteTests {
    private func address(_ text: String) throws -> SocketAddress {
        try SocketAddress(ipAddress: text, port: 7710)
    }

    @Test func `T7: another source towards the server is a change, the same one isn't`() throws {
        var route = NetworkRoute()
        route.opened(from: try address("10.0.0.2"), to: try address("198.51.100.7"))
        #expect(route.targets == [try address("198.51.100.7")])
        #expect(route.isChanged(to: "10.0.0.2") == false, "the network of a container came, for example")
        #expect(route.isChanged(to: "10.0.0.3") == true)
        #expect(route.isChanged(to: "10.0.0.3") == false)
    }

    @Test func `T7: a way that is gone is no change; the next one is, even the same`() throws {
        var route = NetworkRoute()
        route.opened(from: try address("10.0.0.2"), to: try address("198.51.100.7"))
        #expect(route.isChanged(to: nil) == false)
        #expect(route.isChanged(to: nil) == false)
        #expect(route.isChanged(to: "10.0.0.2") == true)
    }

    @Test func `A client that never reached a server looks at the way out`() {
        var route = NetworkRoute()
        #expect(route.targets.compactMap(\.ipAddress) == ["192.0.2.1", "2001:db8::1"])
        #expect(route.isChanged(to: nil) == false)
        #expect(route.isChanged(to: "10.0.0.2") == true)
    }

    @Test func `A connection over something else than IP says nothing of routes`() throws {
        var route = NetworkRoute()
        let socket = try SocketAddress(unixDomainSocketPath: "/tmp/rtm")
        route.opened(from: socket, to: socket)
        #expect(route.targets.count == 2)
    }

    #if canImport(Glibc)
        @Test func `The kernel says which address leads to a target`() throws {
            #expect(RouteLookup.source(towards: [try address("127.0.0.5")]) == "127.0.0.1")
            #expect(RouteLookup.source(towards: []) == nil)
        }

        @Test func `Somebody who listens no more is forgotten, and the socket with the last one`() {
            let notices = RouteNotices()
            let numbers = (0..<3).map { _ in notices.add {} }
            #expect(Set(numbers).count == 3)
            for number in numbers { notices.remove(number) }
            notices.remove(numbers[0])
        }
    #endif
}
