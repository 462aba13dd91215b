import Dispatch
import Foundation
import Synchronization

/// Stands between a client and PostgreSQL on a unix socket, and cuts a connection so that the client doesn't
/// learn what has become of what it sent.
package final class CommitProxy: Sendable {
    package enum Cut: Sendable {
        /// What the client sends next doesn't reach the server.
        case request
        /// The server's next answer that says "COMMIT" doesn't reach the client.
        case commit
    }

    /// The folder of the socket.
    package let directory: String
    private let server: String
    private let listener: Int32
    private let cut = Mutex<Cut?>(nil)

    /// Cuts once.
    package func cutNext(_ place: Cut) { cut.withLock { $0 = place } }
    /// Whether the cut is still to come.
    package var isWaiting: Bool { cut.withLock { $0 != nil } }

    package init(to server: RunningPostgres) throws {
        self.server = server.directory + "/.s.PGSQL.5432"
        directory =
            FileManager.default.temporaryDirectory.appending(path: "cut-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        listener = try Self.open(directory + "/.s.PGSQL.5432", bind)
        listen(listener, 16)
        let accepting = listener
        Thread.detachNewThread { [weak self] in
            while case let client = accept(accepting, nil, nil), client >= 0 { self?.serve(client) }
        }
    }

    package func remove() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func open(
        _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw ServiceProcessFailure(description: "the socket \(path) can't be used: \(errno)")
        }
        return descriptor
    }

    private func serve(_ client: Int32) {
        guard let upstream = try? Self.open(server, connect) else {
            close(client)
            return
        }
        let pumps = DispatchGroup()
        for (from, to, place) in [(client, upstream, Cut.request), (upstream, client, .commit)] {
            pumps.enter()
            Thread.detachNewThread { [self] in
                pump(from, to, place)
                shutdown(client, Int32(SHUT_RDWR))
                shutdown(upstream, Int32(SHUT_RDWR))
                pumps.leave()
            }
        }
        pumps.notify(queue: .global()) {
            close(client)
            close(upstream)
        }
    }

    /// Copies bytes until one side ends, or until the place of the cut.
    private func pump(_ from: Int32, _ to: Int32, _ place: Cut) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(from, &buffer, buffer.count), count > 0 {
            let isCut = cut.withLock { next in
                guard next == place, place == .request || Self.hasCommitted(buffer[..<count]) else {
                    return false
                }
                next = nil
                return true
            }
            guard !isCut else { return }
            var written = 0
            while written < count {
                let step = buffer[written..<count].withUnsafeBytes { write(to, $0.baseAddress, $0.count) }
                guard step > 0 else { return }
                written += step
            }
        }
    }

    private static func hasCommitted(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.ranges(of: Array("COMMIT\0".utf8)).isEmpty
    }
}
