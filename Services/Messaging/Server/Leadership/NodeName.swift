import RTMServiceKit
import RTMWire

/// The name of a messaging node's process in Redis: where the node is reached, and a random suffix, because
/// another process may have listened there before.
struct NodeName: Equatable {
    let text: String

    init(_ address: HostPort, random: UInt32 = .random(in: 0...UInt32.max)) {
        text = "\(address)/\(String(random, radix: 16))"
    }

    /// Where the node of this name is reached. Nil if the name has no address that others reach, because no
    /// `messaging.advertise` is set, and the node listens on a port that the system chose, or on all
    /// addresses and reaches Redis on its own machine.
    static func address(of text: String) -> NodeAddress? {
        guard let slash = text.lastIndex(of: "/"), let address = try? HostPort(text: String(text[..<slash])),
            !address.isEverywhere, address.port > 0
        else { return nil }
        return NodeAddress(host: address.host, port: UInt32(address.port))
    }
}
