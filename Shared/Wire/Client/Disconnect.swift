/// Why an edge ends a connection, and what the client should do about it (protocol/README.md, "Disconnects").
package struct Disconnect: ServerFrameBody, Sendable, Hashable {
    package typealias Fields = Schema.Disconnect
    package static var field: SchemaField<Fields> { Schema.ServerFrame.disconnect }

    package enum Code: Int, Sendable, CaseIterable {
        // 3000..<3500: the client shall connect again.
        case draining = 3000
        case slowConsumer = 3001
        case heartbeatTimeout = 3002
        case tooManyConnections = 3003
        case `internal` = 3004
        case handshakeTimeout = 3005
        case rateExceeded = 3006
        // 3500..<4000: a new connection would end the same way.
        case loggedOut = 3500
        case protocolError = 3501
        case frameTooLarge = 3502
        case versionUnsupported = 3504
        case loginRefused = 3505
        case tokenExpired = 3506
        case superseded = 3507
        case kicked = 3508
    }

    package var code: Code
    package var reason: String
    package var retryAfter: Duration

    package init(_ code: Code, _ reason: String, retryAfter: Duration = .zero) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
    }

    package func write(to sink: inout some FieldSink) {
        sink.field(Fields.code, code)
        sink.field(Fields.reason, reason)
        sink.field(Fields.retryAfterMs, milliseconds: retryAfter)
    }
}
