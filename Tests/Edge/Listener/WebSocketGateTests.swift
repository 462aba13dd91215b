import NIOCore
import NIOHTTP1
import Testing

@testable import RTMEdgeServer

@Suite("Who may open a WebSocket")
struct WebSocketGateTests {
    private func request(
        _ target: String = "/rtm", method: HTTPMethod = .GET, _ change: (inout HTTPHeaders) -> Void = { _ in }
    ) -> HTTPRequestHead {
        var headers: HTTPHeaders = [
            "Host": "a", "Upgrade": "WebSocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        ]
        change(&headers)
        return HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
    }

    private let gate = WebSocketGate(path: "/rtm")

    @Test("a proper request at the path may, also with a query, and from the page of any origin")
    func welcome() {
        #expect(gate.refusal(of: request()) == nil)
        #expect(gate.refusal(of: request("/rtm?a=b")) == nil)
        #expect(gate.refusal(of: request { $0.add(name: "Origin", value: "https://a.example") }) == nil)
    }

    @Test("where origins are named, pages of others may not; programs, which have none, may")
    func origins() {
        let gate = WebSocketGate(path: "/rtm", origins: ["https://A.example", "http://b.example:8080"])
        func status(_ origins: String...) -> HTTPResponseStatus? {
            gate.refusal(of: request { for origin in origins { $0.add(name: "Origin", value: origin) } })?
                .status
        }
        #expect(status() == nil)
        #expect(status("https://a.example") == nil)
        #expect(status("http://b.example:8080") == nil)
        #expect(status("http://b.example") == .forbidden)
        #expect(status("https://a.example.evil.example") == .forbidden)
        #expect(status("null") == .forbidden)
        #expect(status("https://a.example", "https://evil.example") == .forbidden)
    }

    @Test("everything else is told what is wrong, with a length and the end of the connection")
    func refusals() {
        let cases: [(HTTPRequestHead, HTTPResponseStatus)] = [
            (request("/"), .notFound), (request("/rtm/"), .notFound), (request("http://a/rtm"), .notFound),
            (request(method: .POST), .methodNotAllowed),
            (request { $0.remove(name: "Upgrade") }, .upgradeRequired),
            (request { $0.replaceOrAdd(name: "Upgrade", value: "h2c") }, .upgradeRequired),
            (request { $0.replaceOrAdd(name: "Sec-WebSocket-Version", value: "8") }, .upgradeRequired),
            (request { $0.remove(name: "Sec-WebSocket-Key") }, .badRequest),
        ]
        for (request, status) in cases {
            let refusal = gate.refusal(of: request)
            #expect(refusal?.status == status, "\(request)")
            #expect(refusal?.head.headers["Connection"] == ["close"])
            #expect(refusal?.head.headers["Content-Length"] == ["\(refusal?.body.readableBytes ?? 0)"])
        }
        let old = gate.refusal(of: request { $0.replaceOrAdd(name: "Sec-WebSocket-Version", value: "8") })
        #expect(old?.head.headers["Sec-WebSocket-Version"] == ["13"])
    }
}
