/// What reads bytes that somebody else has made. Each target takes any bytes at all: it must come back, and
/// where there are two ways to read them, both must say the same.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A frame of a client, scanned and unpacked.
    case request
    /// A frame between two services.
    case link
    /// A message of messaging, as every kind that there is.
    case message
    /// A message of presence or storage, likewise.
    case service
    /// A client's request that an edge passes on, as the edge and as its reader sees it.
    case call
    /// A stream of frames, in chunks and whole.
    case stream
    /// A token: its text, or the bytes in it.
    case token
    /// A JWT: its text, its claims, or the keys that check it.
    case jwt
    /// Frames of a WebSocket, one after the other.
    case websocket
    #if FUZZES_SERVERS
        /// Requests to one broker, one after the other.
        case broker
        /// A configuration of all services, as `--check-config` reads it.
        case configuration
        /// What the gateway reads of an HTTP request: credentials, key, query, cursor and bodies.
        case http
    #endif

    package func run(_ bytes: UnsafeRawBufferPointer) throws(Disagreement) {
        switch self {
        case .request: try FuzzedRequest.run(bytes)
        case .link: try FuzzedLink.run(bytes)
        case .message: try FuzzedMessage.run(bytes)
        case .service: try FuzzedService.run(bytes)
        case .call: try FuzzedCall.run(bytes)
        case .stream: try FuzzedStream.run(bytes)
        case .token: try FuzzedToken.run(bytes)
        case .jwt: try FuzzedJWT.run(bytes)
        case .websocket: try FuzzedWebSocket.run(bytes)
        #if FUZZES_SERVERS
            case .broker: try FuzzedBroker.run(bytes)
            case .configuration: try FuzzedConfiguration.run(bytes)
            case .http: try FuzzedHTTP.run(bytes)
        #endif
        }
    }
}

/// Two ways to read the same bytes have read different things.
package struct Disagreement: Error, Sendable, CustomStringConvertible {
    package let description: String

    /// - Parameter what: who disagrees about what.
    static func unless(_ agreed: Bool, _ what: @autoclosure () -> String) throws(Disagreement) {
        if !agreed { throw Disagreement(description: what()) }
    }
}
