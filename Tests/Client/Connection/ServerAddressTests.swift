import RTMClient
import Testing

struct ServerAddressTests {
    @Test(arguments: [
        ("example.org", "example.org", 7710), ("example.org:80", "example.org", 80),
        ("10.0.0.1:1", "10.0.0.1", 1),
        ("[::1]:9000", "::1", 9000), ("[fe80::1]", "fe80::1", 7710), ("::1", "::1", 7710),
    ])
    func `Host, host with port and IPv6 in brackets are read`(text: String, host: String, port: Int) throws {
        #expect(try ServerAddress(text) == ServerAddress(host: host, port: port))
    }

    @Test(arguments: [
        ("ws://example.org", "example.org", 80, "/rtm", false),
        ("wss://example.org", "example.org", 443, "/rtm", true),
        ("WS://a:7712", "a", 7712, "/rtm", false), ("ws://a:7712/", "a", 7712, "/", false),
        ("wss://[::1]:1/a/b?c=d:e", "::1", 1, "/a/b?c=d:e", true), ("ws://::1", "::1", 80, "/rtm", false),
    ])
    func `Addresses of WebSockets are read with their path`(
        text: String, host: String, port: Int, path: String, isSecure: Bool
    ) throws {
        let transport = ServerAddress.Transport.webSocket(path: path, isSecure: isSecure)
        #expect(try ServerAddress(text) == ServerAddress(host: host, port: port, transport: transport))
    }

    @Test(arguments: [
        "http://a", "://a", "tcp://a:1", "ws://", "ws:///rtm", "ws://a:0/", "ws://a:b/rtm", "ws://a/b c",
        "ws://a/#b",
        "ws://a/ü", "ws://user@a/", "ws://a?b", "a/b", "a b:1", "user@a:1",
        "", ":80", "host:", "host:0", "host:65536", "host:x", "host:+1", "[::1", "[::1]80", "[]",
    ])
    func `What is no address is refused with a reason`(text: String) {
        let error = #expect(throws: RTMError.self) { try ServerAddress(text) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.reason.contains("'\(text)'") == true)
    }

    @Test(arguments: ["example.org:80", "[::1]:9000", "ws://a:80/", "wss://[::1]:9/rtm?a"])
    func `The description is read back`(text: String) throws {
        #expect(try ServerAddress(text).description == text)
    }
}
