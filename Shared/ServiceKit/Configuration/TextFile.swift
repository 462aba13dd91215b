#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Reads small text files: configuration, secrets, and what the kernel reports about the process.
package enum TextFile {
    /// Why a file could not be read, in the system's words.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Limit: the bytes of one file.
    private static let bytesMax = 4 << 20

    /// Reads the whole file as UTF-8.
    package static func read(_ path: String) throws(Failure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw systemFailure() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = systemRead(descriptor, &chunk)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw systemFailure() }
            guard count > 0 else { break }
            bytes += chunk[..<count]
            guard bytes.count <= bytesMax else {
                throw Failure(description: "it has more than \(bytesMax) bytes")
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(description: "it is not UTF-8 text")
        }
        return text
    }

    private static func systemFailure() -> Failure { Failure(description: String(cString: strerror(errno))) }
}

private func systemRead(_ descriptor: Int32, _ chunk: inout [UInt8]) -> Int {
    chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
}
