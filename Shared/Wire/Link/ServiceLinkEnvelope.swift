package import RTMModel

/// One frame between two services (protocol/schema/service/link.proto), read where it lies.
///
/// The envelope is scanned by hand because every message between services passes here and its body is only a
/// slice for the one who knows the method: a body is valid during the call that hands it over, whoever keeps
/// it copies it. The rare cases are indirect so that the frequent ones stay small.
package enum ServiceLinkEnvelope {
    indirect case hello(ServiceLinkHello)
    case welcome(ServiceLinkWelcome)
    case request(id: UInt64, method: UInt32, timeoutMilliseconds: UInt32, body: UnsafeRawBufferPointer)
    case response(id: UInt64, body: UnsafeRawBufferPointer)
    indirect case failure(id: UInt64, error: RTMError)
    case push(method: UInt32, body: UnsafeRawBufferPointer)
    case heartbeat
    case heartbeatAck
    indirect case goAway(ServiceLinkGoAway)
    /// A kind of frame that this version doesn't know: to be ignored.
    case unknown
}

package struct ServiceLinkHello: Sendable, Hashable {
    package var version: UInt32
    /// The service that the caller expects to reach.
    package var service: String
    /// The caller's name, for logs.
    package var node: String
    /// Never logged.
    package var secret: String

    package init(version: UInt32, service: String, node: String, secret: String) {
        self.version = version
        self.service = service
        self.node = node
        self.secret = secret
    }
}

package struct ServiceLinkWelcome: Sendable, Hashable {
    package var version: UInt32
    package var service: String
    /// Another number than before means that the peer's process is a new one and has forgotten everything.
    package var incarnation: UInt64

    package init(version: UInt32, service: String, incarnation: UInt64) {
        self.version = version
        self.service = service
        self.incarnation = incarnation
    }
}

/// Why the sender closes the link after this frame.
package struct ServiceLinkGoAway: Sendable, Hashable {
    package enum Reason: Int32, Sendable, Hashable, CaseIterable {
        /// Also every reason that this version doesn't know.
        case unspecified = 0
        /// Connect again, elsewhere or later.
        case draining = 1
        case version = 2
        case wrongService = 3
        case wrongSecret = 4
        case protocolError = 5
        /// The peer reads too slowly; the queue towards it is full.
        case overflow = 6
    }

    package var reason: Reason
    /// For a person.
    package var text: String

    package init(_ reason: Reason, _ text: String = "") {
        self.reason = reason
        self.text = text
    }
}
