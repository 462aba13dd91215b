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
        "", ":80", "host:", "host:0", "host:65536", "host:x", "host:+1", "[::1", "[::1]80", "[]",
    ])
    func `What is no address is refused with a reason`(text: String) {
        let error = #expect(throws: RTMError.self) { try ServerAddress(text) }
        #expect(error?.code == .invalidParameter)
        #expect(error?.reason.contains("'\(text)'") == true)
    }

    @Test(arguments: ["example.org:80", "[::1]:9000"])
    func `The description is read back`(text: String) throws {
        #expect(try ServerAddress(text).description == text)
    }
}
