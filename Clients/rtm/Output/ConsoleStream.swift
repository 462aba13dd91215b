import Foundation

/// Standard output and standard error, unbuffered: a line is written at once, with one system call if the
/// reader takes it.
struct ConsoleStream: Sendable {
    static let output = ConsoleStream(descriptor: STDOUT_FILENO)
    static let error = ConsoleStream(descriptor: STDERR_FILENO)

    let descriptor: Int32

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// - Throws: `OutputClosed` when nobody reads any more.
    func writeNow(line: String) throws(OutputClosed) { try writeNow(line + "\n") }

    func writeNow(_ text: String) throws(OutputClosed) {
        var bytes = ArraySlice(text.utf8)
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                bytes = bytes.dropFirst(written)
            } else if errno == EAGAIN {
                // Another program made the shared terminal or pipe non-blocking, so wait for the reader
                // instead of losing lines.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wanted, 1, -1)
            } else if errno != EINTR {
                throw OutputClosed()
            }
        }
    }
}
