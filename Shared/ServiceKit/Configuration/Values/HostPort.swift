/// A place to listen on or to connect to: a host name or an IP address, and a port.
///
/// It is written `127.0.0.1:7710`, `edge.example.org:7710` or `[::1]:7710`. With port 0 the system chooses a
/// port when listening.
package struct HostPort: Sendable, Hashable {
    package var host: String
    package var port: Int

    package init(host: String, port: Int) {
        precondition((0...65535).contains(port), "port \(port) is outside 0…65535")
        self.host = host
        self.port = port
    }

    /// Reads the written form. An error's sentence continues after the value: "… has no port".
    package init(text: String) throws(ValueRefusal) {
        guard let colon = text.lastIndex(of: ":") else {
            throw ValueRefusal("has no port; write HOST:PORT such as 127.0.0.1:7710")
        }
        guard let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port) else {
            throw ValueRefusal("has no port in 0…65535 after its last colon; write HOST:PORT")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]"), host.count > 2 {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw ValueRefusal("is an IPv6 address without brackets; write [ADDRESS]:PORT")
        }
        guard !host.isEmpty else {
            throw ValueRefusal("has no host; write 0.0.0.0:\(port) for every address")
        }
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/[]".utf8.contains($0) }) else {
            throw ValueRefusal(
                "has a character in its host that no host has; write HOST:PORT without a scheme")
        }
        self.init(host: String(host), port: port)
    }

    /// Whether a listener there is on every address of its machine.
    package var isEverywhere: Bool { ["0.0.0.0", "::"].contains(host) }

    /// Whether only this machine can reach a listener there.
    package var isLoopback: Bool { Self.isLoopback(host: host) }

    /// - Parameter header: the header `Host` of a request, with a port or without.
    static func isLoopback(header: String) -> Bool {
        guard let address = try? HostPort(text: header) else {
            return isLoopback(host: header.hasPrefix("[") ? String(header.dropFirst().dropLast()) : header)
        }
        return address.isLoopback
    }

    private static func isLoopback(host: String) -> Bool {
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.lowercased() == "localhost" || host == "::1"
            || numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
    }
}

extension HostPort: CustomStringConvertible {
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
