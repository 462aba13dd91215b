#if canImport(Glibc)
    internal import Glibc
#endif

/// What a unit of `Type=notify` reports to systemd: when the program has started, and when it ends. A
/// notice is a text in a datagram to the socket that the variable `NOTIFY_SOCKET` names.
///
/// Nothing depends on it: without the variable nothing is sent, and a notice that can't be sent is dropped.
enum SystemdNotice: String, Sendable {
    /// Everything listens. What is missing elsewhere is a question for `/ready`, and not for whoever starts
    /// units.
    case started = "READY=1"
    case ending = "STOPPING=1"

    static func sender(_ environment: [String: String]) -> @Sendable (SystemdNotice) -> Void {
        guard let name = environment["NOTIFY_SOCKET"] else { return { _ in } }
        return { $0.send(to: name) }
    }

    #if canImport(Glibc)
        /// - Parameter name: a path, or `@` and the name of a socket without one.
        func send(to name: String) {
            guard let (address, length) = Self.address(name) else { return }
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let text = Array(rawValue.utf8)
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    _ = sendto(descriptor, text, text.count, CInt(MSG_NOSIGNAL), address, length)
                }
            }
        }

        private static func address(_ name: String) -> (sockaddr_un, socklen_t)? {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let bytes = Array(name.utf8)
            guard let first = bytes.first, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
                return nil
            }
            let hasNoPath = first == UInt8(ascii: "@")
            withUnsafeMutableBytes(of: &address.sun_path) { path in
                path.copyBytes(from: bytes)
                if hasNoPath { path[0] = 0 }
            }
            let length = MemoryLayout<sa_family_t>.size + bytes.count + (hasNoPath ? 0 : 1)
            return (address, socklen_t(length))
        }
    #else
        func send(to name: String) {}
    #endif
}
