public import Logging
public import NIOCore
import NIOPosix
import RTMModel

extension RTMClient {
    /// How a connection to an edge is protected.
    public enum TLS: Sendable, Hashable {
        /// Plain TCP, and servers at `wss://` with the authorities of the system.
        case disabled
        /// TLS 1.2 or newer; the server's certificate and name are always verified.
        ///
        /// - Parameters:
        ///   - caFile: PEM file of the authorities to trust; nil means those of the system.
        ///   - serverName: the name that the certificate must carry; nil means the host of the server
        ///     address.
        case enabled(caFile: String? = nil, serverName: String? = nil)
    }

    /// What a client needs to know before it logs in.
    public struct Configuration: Sendable {
        /// Edges, tried in this order; when one can't be reached the next is tried at once.
        public var servers: [ServerAddress]
        public var appID: String
        /// 1…64 bytes of the characters of L-2.
        public var userID: String
        /// What a login presents that isn't given a token. Nil, the default, means the app id, which serves
        /// apps without certificate (S-1).
        public var token: String?
        public var tls: TLS = .disabled

        /// How often the client tells the server that it lives. Default 5 s; clamped to 5…1800 s (L-46).
        public var heartbeatInterval: Duration = .seconds(5)
        /// How long others still see this user after a loss. Default 300 s; clamped to 5…300 s (L-45).
        public var presenceTimeout: Duration = .seconds(300)
        /// How long to try before the link fails for good; nil, the default, means never (L-47, T17).
        public var reconnectTimeout: Duration?
        /// How long one call, or one attempt to connect and log in, may take. Default 10 s.
        public var requestTimeout: Duration = .seconds(10)
        /// How many events wait for one consumer before the oldest is dropped, unless `events` is told
        /// otherwise.
        public var eventBufferCapacity = EventBuffering.defaultCapacity

        /// Silent by default. Tokens and message contents are never logged.
        public var logger = Logger(label: "rtm.client") { _ in SwiftLogNoOpLogHandler() }
        /// Runs the sockets; it must outlive the client. Default: the one that NIO shares within the process.
        public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

        /// Timing that only tests change.
        package var timing = LinkTiming()

        public init(servers: [ServerAddress] = [.local], appID: String, userID: String) {
            self.servers = servers
            self.appID = appID
            self.userID = userID
        }

        /// - Throws: -10003, -10006 or -10024 for what can't work; nothing is sent before a login (S-0c).
        func check() throws(RTMError) {
            guard !appID.isEmpty else {
                throw RTMError(.invalidAppId, "the app id is empty", operation: "init")
            }
            guard !servers.isEmpty else {
                throw RTMError(.invalidPrivateConfig, "the list of servers is empty", operation: "init")
            }
            do { try NameRule.user.check(userID.utf8) } catch { throw error.with(operation: "init") }
        }

        var heartbeatSeconds: UInt32 { Self.clamp(heartbeatInterval, to: Limits.heartbeatInterval) }
        var presenceTimeoutSeconds: UInt32 { Self.clamp(presenceTimeout, to: Limits.presenceTimeout) }

        private static func clamp(_ duration: Duration, to range: ClosedRange<Int>) -> UInt32 {
            let seconds = duration.components.seconds
            return UInt32(max(Int64(range.lowerBound), min(Int64(range.upperBound), seconds)))
        }
    }
}
