import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import RTMTestSupport
import Testing

@testable import RTMGatewayServer

@Suite("The files that the gateway serves")
struct ServedFileTests {
    @Test("files.c has every file of the console, the web client and its sample, and no other")
    func list() throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Services/Gateway/Files/generate.py")
        let process = ChildProcess()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path, "--check"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "Services/Gateway/Files/generate.py writes it anew")
    }

    @Test("a file is what lies in the folder, and its tag follows the content")
    func content() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = try #require(ServedFile.all["web/src/index.js"])
        let source = try Data(contentsOf: root.appending(path: "Clients/web/src/index.js"))
        #expect(Data(file.content.readableBytesView) == source)
        // A script has two names.
        let tags = ServedFile.all.values.filter { !$0.isLasting }.map(\.tag)
        #expect(Set(tags).count == tags.count)
    }

    @Test("the web client's files are for pages of any origin, and the console's are not")
    func origins() throws {
        let client = try #require(ServedFile.all["web/src/index.js"])
        let console = try #require(ServedFile.all["console/index.html"])
        #expect(client.response(to: .get(), sockets: []).headers[.accessControlAllowOrigin] == "*")
        #expect(console.response(to: .get(), sockets: []).headers[.accessControlAllowOrigin] == nil)
    }

    @Test("who has a file gets it once: lists of tags, and the weak ones of proxies, count")
    func unchanged() throws {
        let file = try #require(ServedFile.all["console/index.html"])
        for known in [file.tag, "W/\(file.tag)", "\"old\", \(file.tag)", "*"] {
            #expect(file.response(to: .get([.ifNoneMatch: known]), sockets: []).status == .notModified)
        }
        for other in ["\"old\"", "W/\"old\"", String(file.tag.dropLast()), ""] {
            #expect(file.response(to: .get([.ifNoneMatch: other]), sockets: []).status == .ok)
        }
    }

    @Test("a script is served compressed to those who take that, and for good under the name of its content")
    func scripts() throws {
        // `generate.py --scripts` makes them before the builds of make, and a plain build has none.
        guard let script = ServedFile.all["web/agora-rtm.js"] else { return }
        let lasting = try #require(ServedFile.all.first { $0.value.tag == script.tag && $0.value.isLasting })
        #expect(lasting.key.wholeMatch(of: #/web/agora-rtm\.[0-9a-f]{16}\.js/#) != nil)
        let plain = script.response(to: .get(), sockets: [])
        #expect(plain.headers[.contentEncoding] == nil && plain.headers[.cacheControl] == "no-cache")
        #expect(plain.headers[.contentLength] == "\(script.content.readableBytes)")
        for header in ["gzip, deflate, br", "br;q=1.0, GZIP;q=0.5"] {
            let compressed = lasting.value.response(to: .get([.acceptEncoding: header]), sockets: [])
            #expect(
                compressed.headers[.contentEncoding] == "gzip"
                    && compressed.headers[.vary] == "accept-encoding")
            #expect(compressed.headers[.cacheControl]?.contains("immutable") == true)
            let tag = try #require(compressed.headers[.eTag])
            #expect(tag != plain.headers[.eTag])
            let again = script.response(
                to: .get([.acceptEncoding: header, .ifNoneMatch: tag]), sockets: [])
            #expect(again.status == .notModified)
        }
        let refusing = script.response(to: .get([.acceptEncoding: "gzip;q=0"]), sockets: [])
        #expect(refusing.headers[.contentEncoding] == nil)
    }
}

extension Request {
    /// A request for some file.
    fileprivate static func get(_ headers: HTTPFields = [:]) -> Request {
        Request(
            head: HTTPRequest(
                method: .get, scheme: "http", authority: "localhost", path: "/", headerFields: headers),
            body: RequestBody(buffer: ByteBuffer()))
    }
}
