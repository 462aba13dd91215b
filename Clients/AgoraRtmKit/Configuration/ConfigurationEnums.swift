// The names are the vendor's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Areas whose servers the client may use (N-6).
///
/// The areas of a server stand behind its address in ``AgoraRtmPrivateConfig/accessPointHosts``:
/// `rtm.example.com#EU`. A server without one serves all areas.
public struct AgoraRtmAreaCode: OptionSet, Sendable, Hashable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Mainland China.
    public static let CN = AgoraRtmAreaCode(rawValue: 0x1)
    /// North America.
    public static let NA = AgoraRtmAreaCode(rawValue: 0x2)
    /// Europe.
    public static let EU = AgoraRtmAreaCode(rawValue: 0x4)
    /// Asia without mainland China.
    public static let AS = AgoraRtmAreaCode(rawValue: 0x8)
    /// Japan.
    public static let JP = AgoraRtmAreaCode(rawValue: 0x10)
    /// India.
    public static let IN = AgoraRtmAreaCode(rawValue: 0x20)
    /// Everywhere.
    public static let GLOB = AgoraRtmAreaCode(rawValue: 0xFFFF_FFFF)
}

/// How messages travel (N-4).
public enum AgoraRtmProtocolType: Int, Sendable {
    /// Over one connection, with a second one ready. Both use TCP here.
    case tcpUdp = 0
    /// Over one connection.
    case tcpOnly = 1
}

/// Services of a private deployment.
public struct AgoraRtmServiceType: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The empty set. A real import of the vendor's header has only `[]`.
    public static let none: AgoraRtmServiceType = []
    /// Message and user channels, presence, storage, locks.
    public static let message = AgoraRtmServiceType(rawValue: 0x1)
    /// Stream channels.
    public static let stream = AgoraRtmServiceType(rawValue: 0x2)
}

/// How the client passes a firewall (N-1).
public enum AgoraRtmProxyType: Int, Sendable {
    /// No proxy.
    case none = 0
    /// An HTTP proxy that makes tunnels (CONNECT).
    case http = 1
    /// A relay that passes TCP connections on to the servers.
    case cloudTcp = 2
}

/// How payloads are encrypted between clients.
public enum AgoraRtmEncryptionMode: Int, Sendable {
    /// Nothing is encrypted.
    case none = 0
    /// AES-GCM with a key of 128 bits.
    case AES128GCM = 1
    /// AES-GCM with a key of 256 bits.
    case AES256GCM = 2
}

/// What is logged: every record of this level or a more severe one.
public enum AgoraRtmLogLevel: Int, Sendable {
    /// Nothing is logged.
    case none = 0
    /// Everything but debug records.
    case info = 0x1
    /// Warnings and worse.
    case warn = 0x2
    /// Errors and worse.
    case error = 0x4
    /// Only what ends the client.
    case fatal = 0x8
}
