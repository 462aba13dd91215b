import Foundation
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
        let process = Process()
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
        #expect(Set(ServedFile.all.values.map(\.tag)).count == ServedFile.all.count)
    }
}
