#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Standard output and standard error without buffers: a written text is there even when the process dies.
///
/// A write waits as long as whoever reads the stream doesn't. So a program that serves somebody writes
/// through `LogOutput`, and only a command that prints something and ends writes here.
enum StandardStream: Int32 {
    case output = 1
    case error = 2

    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Writes the whole text with one `write`, so that lines of several threads or processes don't mix. It
    /// takes more only if the system accepts less. If the stream is gone, the text is lost, because there is
    /// nowhere left to report it.
    func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = systemWrite(rawValue, start, rest.count)
                if count < 0 && errno == EAGAIN {
                    // Somebody who shares the stream has made it one that doesn't wait.
                    var room = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                    poll(&room, 1, -1)
                } else if count < 0 && errno != EINTR {
                    return
                }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
            }
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, start, count)
}
