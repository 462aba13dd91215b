import Foundation
import Synchronization

/// Ports for processes that are started at an address that is known before, as the nodes of a cluster are.
///
/// They lie below the range from which the system chooses, by default 32,768 to 60,999: a port of that range
/// that was free a moment ago may be the source of somebody's connection when the process wants to listen.
package enum FreePorts {
    private static let range = 10_000..<32_000
    private static let taken = Mutex(Set<Int>())

    /// Gives ports that nobody listens on and that this process hasn't given before.
    package static func take(_ count: Int) throws -> [Int] {
        try taken.withLock { taken in
            try (0..<count).map { _ in
                guard let port = range.shuffled().lazy.first(where: { !taken.contains($0) && isFree($0) })
                else { throw ServiceProcessFailure(description: "there is no free port") }
                taken.insert(port)
                return port
            }
        }
    }

    private static func isFree(_ port: Int) -> Bool {
        let listener = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
