import RTMServiceKit
import RTMWire

/// The name of a messaging node's process, as it stands in Redis: where the node is reached, and a random
/// part, because another process may have listened there before.
struct NodeName: Equatable {
    let text: String

    init(_ address: HostPort, random: UInt32 = .random(in: 0...UInt32.max)) {
        text = "\(address)/\(String(random, radix: 16))"
    }

    /// Where the node of this name is reached; nil if it doesn't say: no `messaging.advertise` is set, and it
    /// listens on a port that the system chose, or on all addresses and reaches Redis on its own machine.
    static func address(of text: String) -> NodeAddress? {
        guard let slash = text.lastIndex(of: "/"), let address = try? HostPort(text: String(text[..<slash])),
            !address.isEverywhere, address.port > 0
        else { return nil }
        return NodeAddress(host: address.host, port: UInt32(address.port))
    }
}
