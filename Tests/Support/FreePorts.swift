import Foundation

/// Ports of this machine that nobody listens on at the moment.
package enum FreePorts {
    /// Gives different ports.
    package static func take(_ count: Int) throws -> [Int] {
        var listeners: [Int32] = []
        defer { for listener in listeners { close(listener) } }
        return try (0..<count).map { _ in
            let listener = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            listeners.append(listener)
            return try port(of: listener)
        }
    }

    private static func port(of listener: Int32) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard result else { throw ServiceProcessFailure(description: "there is no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
