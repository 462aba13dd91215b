import Testing

@testable import RTMGatewayServer

@Suite("Origins of pages (W-81)")
struct AllowedOriginsTests {
    @Test(
        "an origin is what browsers send",
        arguments: [
            "https://app.example.com", "http://localhost:3000", "https://app.example.com:8443",
            "http://127.0.0.1:443", "https://[::1]", "https://[::1]:8443",
        ])
    func isOrigin(text: String) { #expect(AllowedOrigins.isOrigin(text)) }

    @Test(
        "what no browser sends is refused, so that nobody waits for a page that is never let in",
        arguments: [
            "", "*", "null", "app.example.com", "https://", "https://App.example.com", "ftp://example.com",
            "https://app.example.com/", "https://me@app.example.com", "https://app.example.com:443",
            "http://app.example.com:80", "https://app.example.com:", "https://app.example.com:0",
            "https://app.example.com:08443", "https://app.example.com:70000", "https://:8443",
            "https://app.example.com:port",
        ])
    func isNone(text: String) { #expect(!AllowedOrigins.isOrigin(text)) }
}
