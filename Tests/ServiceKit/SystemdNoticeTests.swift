import Foundation
import RTMTestSupport
import Testing

@testable import RTMServiceKit

#if canImport(Glibc)
    import Glibc

    @Suite("systemd hears when a program has started and when it ends")
    struct SystemdNoticeTests {
        /// A socket as systemd has one.
        private final class Listener {
            let descriptor: CInt

            init(_ path: String) throws {
                descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
                if path.hasPrefix("@") {
                    withUnsafeMutableBytes(of: &address.sun_path) { $0[0] = 0 }
                }
                let length = socklen_t(2 + path.utf8.count + (path.hasPrefix("@") ? 0 : 1))
                let status = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(descriptor, $0, length)
                    }
                }
                try #require(status == 0)
            }

            deinit { close(descriptor) }

            /// The oldest notice that has come; nil if there is none.
            func next() -> String? {
                var bytes = [UInt8](repeating: 0, count: 64)
                let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
                return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
            }
        }

        private static let folder = FileManager.default.temporaryDirectory.path()

        @Test("a notice reaches a socket with a path and one without", arguments: [folder, "@"])
        func reaches(_ place: String) throws {
            let name = "\(place)\(place == "@" ? "" : "/")n-\(UUID().uuidString.prefix(8))"
            let listener = try Listener(name)
            let send = SystemdNotice.sender(["NOTIFY_SOCKET": name])
            send(.started)
            send(.ending)
            #expect(listener.next() == "READY=1")
            #expect(listener.next() == "STOPPING=1")
            #expect(listener.next() == nil)
        }

        @Test(
            "what can't be sent is dropped",
            arguments: ["", "/nowhere/at/all", String(repeating: "n", count: 200)])
        func nowhere(_ name: String) {
            SystemdNotice.started.send(to: name)
            SystemdNotice.sender([:])(.started)
        }

        @Test("a program says that it has started once everything listens, and that it ends before it closes")
        func program() async throws {
            let journal = ProgramLog()
            let program = try RunningProgram(
                [[ScriptedService(name: "a", journal: journal)]], journal: journal,
                notify: { journal.note($0.rawValue) })
            try await program.untilReady()
            try await eventually("the notice") { journal.all.contains("READY=1") }
            program.lifecycle.signalReceived(SIGTERM)
            #expect(await program.run.value == .ok)
            #expect(
                journal.all.filter { $0 != "a run" } == [
                    "0 assemble", "a start", "READY=1", "STOPPING=1", "a shutdown",
                ])
        }
    }
#endif
