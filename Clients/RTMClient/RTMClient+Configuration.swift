public import Logging
public import NIOCore
import RTMModel

extension RTMClient {
    /// How a connection to an edge is protected.
    public enum TLS: Sendable, Hashable {
        /// TLS as with `enabled`, but plain TCP to a server on this machine: `localhost`, `127.…` and `::1`
        /// (N-3). The address of a WebSocket says itself what it wants.
        ///
        /// - Parameter caFile: a PEM file with the authorities to trust; `nil` means those of the system.
        case automatic(caFile: String? = nil)
        /// Plain TCP, and servers at `wss://` with the authorities of the system.
        case disabled
        /// TLS 1.2 or newer. The certificate and the name of the server are always verified.
        ///
        /// - Parameters:
        ///   - caFile: a PEM file with the authorities to trust; `nil` means those of the system.
        ///   - serverName: the name that the certificate must carry; `nil` means the host of the server
        ///     address.
        case enabled(caFile: String? = nil, serverName: String? = nil)
    }

    /// What a client needs to know before it logs in.
    public struct Configuration: Sendable {
        /// The edges, which are tried in this order. When one can't be reached, the next is tried at once.
        public var servers: [ServerAddress]
        /// The app that the servers know.
        public var appID: String
        /// The user that logs in: 1 to 64 bytes, of the characters that user ids may have (L-2).
        public var userID: String
        /// The token that a login presents if it isn't given another one, at most 24 KiB. `nil`, the default,
        /// means the app id, which serves apps without certificate (S-1). A client has a token or a
        /// ``tokenProvider``, and not both.
        public var token: String?
        /// Where tokens come from, in place of a fixed ``token`` (S-53). A `login` that brings none asks it,
        /// unless the client is connected. So does the client when the token of the session expires within 30
        /// seconds, or has expired. A provider that throws, or that takes longer than `requestTimeout`, fails
        /// the attempt that needs its token, and the next attempt asks it again: after 2, 4, 8 … and at most
        /// 30 seconds (S-14). Before the token expires it is asked again after 1, 2, 4 … and at most 30
        /// seconds. It is asked by one call at a time. A call whose answer isn't wanted any more, as after a
        /// logout, is cancelled. `nil`, the default, leaves all of that to the app.
        public var tokenProvider: TokenProvider?
        /// The default is TLS, unless the server is on this machine (N-3).
        public var tls: TLS = .automatic()
        /// What the client connects to instead of its servers. `nil`, the default, means that it connects to
        /// them itself.
        public var proxy: Proxy?
        /// The route of a second connection, over which the client continues when the first one stalls.
        /// `nil`, the default, means that there is none.
        public var secondPath: SecondPath?

        /// How often the client sends a heartbeat. The default is 5 s. The value is clamped to 5…1800 s
        /// (L-46).
        public var heartbeatInterval: Duration = .seconds(5)
        /// How long others still see this user after its connection was lost. The default is 300 s. The value
        /// is clamped to 5…300 s (L-45).
        public var presenceTimeout: Duration = .seconds(300)
        /// How long the client tries to connect before the link fails for good. `nil`, the default, means
        /// that it never gives up (L-47, T17).
        public var reconnectTimeout: Duration?
        /// How long one call, or one attempt to connect and log in, may take. The default is 10 s.
        public var requestTimeout: Duration = .seconds(10)
        /// Whether a publish above the server's rates waits for its turn, for up to `requestTimeout`. The
        /// default is true. Otherwise it is sent at once, and the server refuses it with
        /// `.channelPublishMessageTooFrequent` (-11025).
        public var pacesPublishes = true
        /// How far publishes wait. The compatible API lets fewer of them wait, and not for so long.
        package var pacing = PublishPacing.patient
        /// How many events wait for one consumer before the oldest is dropped, unless the call of `events`
        /// names another number.
        public var eventBufferCapacity = EventBuffering.defaultCapacity

        /// How many entries the record of the client has (``RTMClient/flightRecord()``). The default is 256,
        /// which is at most 40 KB, and ten minutes or more. 0 records nothing.
        public var flightRecorderCapacity = 256

        /// The keys of the end-to-end encryption. The client encrypts with the first one, and decrypts with
        /// any. Empty, the default, means that nothing is encrypted. See ``EncryptionKey``.
        public var encryptionKeys: [EncryptionKey] = []

        /// Where the client logs. The default logs nothing. Tokens and message contents are never logged.
        public var logger = Logger(label: "rtm.client") { _ in SwiftLogNoOpLogHandler() }
        /// The event loops that run the sockets. They must outlive the client. The default is the group that
        /// NIO shares within the process: on Apple's platforms that of Network.framework, elsewhere that of
        /// POSIX sockets.
        public var eventLoopGroup: any EventLoopGroup = Sockets.eventLoopGroup

        /// Times that only tests change.
        package var timing = LinkTiming()

        /// Everything else has a default.
        public init(
            servers: [ServerAddress] = [.local], appID: String, userID: String, token: String? = nil
        ) {
            self.servers = servers
            self.appID = appID
            self.userID = userID
            self.token = token
        }

        /// Refuses a configuration that can't work. Nothing is sent before a login (S-0c).
        ///
        /// - Throws: `.invalidAppId` (-10003) for an empty app id, `.invalidUserId` (-10006) for a bad user
        ///   id, `.invalidPrivateConfig` (-10024) without a server, `.invalidToken` (-10005) for a token that
        ///   no frame can carry, `.invalidParameter` (-10014) for a token beside a token provider and for a
        ///   proxy without server or port, `.invalidEncryptionParameter` (-10020) for an encryption key that
        ///   occurs twice or for more than 16 keys.
        func check() throws(RTMError) {
            guard !appID.isEmpty else {
                throw RTMError(.invalidAppId, "the app id is empty", operation: "init")
            }
            guard !servers.isEmpty else {
                throw RTMError(.invalidPrivateConfig, "the list of servers is empty", operation: "init")
            }
            do { try NameRule.user.check(userID.utf8) } catch { throw error.with(operation: "init") }
            if let token, !token.isEmpty { try check(token) }
            try proxy?.check()
            try EncryptionKey.check(encryptionKeys, operation: "init")
        }

        private func check(_ token: String) throws(RTMError) {
            guard tokenProvider == nil else {
                throw RTMError(
                    .invalidParameter,
                    "the configuration has both a token and a token provider: leave one out",
                    operation: "init")
            }
            do { try Credential.check(token) } catch { throw error.with(operation: "init") }
        }

        /// How much of the limits is left to the app.
        var contentSize: ContentSize { ContentSize(isSealed: !encryptionKeys.isEmpty) }

        var heartbeatSeconds: UInt32 { Self.clamp(heartbeatInterval, to: Limits.heartbeatInterval) }
        var presenceTime: Duration { .seconds(presenceTimeoutSeconds) }
        var presenceTimeoutSeconds: UInt32 { Self.clamp(presenceTimeout, to: Limits.presenceTimeout) }

        private static func clamp(_ duration: Duration, to range: ClosedRange<Int>) -> UInt32 {
            let seconds = duration.components.seconds
            return UInt32(max(Int64(range.lowerBound), min(Int64(range.upperBound), seconds)))
        }
    }
}
