import Foundation
import RTMTestSupport
import Testing

/// Addresses where a program can't listen.
@Suite(.serialized) struct AddressTests {
    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rtm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    private func standalone(_ name: String, in directory: URL, _ more: String...) throws -> ServiceProcess {
        try ServiceProcess(
            "rtm-standalone",
            [
                "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data",
                directory.appending(path: name).path,
            ] + more, directory: directory)
    }

    @Test("a second system on one machine leaves out the addresses that nobody has asked for, and says so")
    func second() async throws {
        try await withDirectory { directory in
            let first = try standalone("first", in: directory)
            defer { first.signal(SIGKILL) }
            _ = try await first.listening()
            let second = try standalone("second", in: directory)
            defer { second.signal(SIGKILL) }
            let listening = try await second.listening()
            #expect(listening["edge"] != nil && listening["gateway"] == nil)
            #expect(listening["edge.webSocket"] == nil)
            for key in ["gateway.listen", "edge.webSocket.listen"] {
                let line = second.log.split(separator: "\n").first {
                    $0.contains("a default address is left out") && $0.contains("for \(key): ")
                }
                #expect(line != nil, "\(key): \(second.log)")
            }
            let asked = try standalone("third", in: directory, "--gateway-listen", "127.0.0.1:7750")
            #expect(try await asked.exit() == 3)
            #expect(
                asked.log.contains(
                    "can't listen on 127.0.0.1:7750 for gateway.listen: Address already in use"))
        }
    }

    @Test("the console is told of the WebSocket that its own edge listens at, and of none that was left out")
    func console() async throws {
        try await withDirectory { directory in
            let first = try standalone("first", in: directory)
            defer { first.signal(SIGKILL) }
            _ = try await first.listening()
            for socket in [nil, "127.0.0.1:0"] as [String?] {
                let more = socket.map { ["--edge-web-socket-listen", $0] } ?? []
                let process = try ServiceProcess(
                    "rtm-standalone",
                    [
                        "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--gateway-listen",
                        "127.0.0.1:0", "--data", directory.appending(path: socket ?? "none").path,
                    ] + more, directory: directory)
                defer { process.signal(SIGKILL) }
                let listening = try await process.listening()
                let http = try await RawHTTP.open(try #require(listening["gateway"]))
                try await http.send("GET /console/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                let answer = await http.rest()
                let place = listening["edge.webSocket"].map { " ws://\($0)/rtm" } ?? ""
                #expect((socket == nil) == place.isEmpty)
                #expect(answer.contains("connect-src 'self'\(place);"), "\(answer.prefix(900))")
            }
        }
    }

    @Test(
        "an address of another machine, or of none, is named with its key",
        arguments: [
            ("192.0.2.1:7750", "Cannot assign requested address"),
            ("nowhere.invalid:7750", "the host name can't be looked up"),
        ])
    func foreign(address: String, cause: String) async throws {
        try await withDirectory { directory in
            let process = try standalone("data", in: directory, "--gateway-listen", address)
            #expect(try await process.exit() == 3)
            #expect(
                process.log.contains("can't listen on \(address) for gateway.listen: \(cause)"),
                "\(process.log)")
        }
    }
}
