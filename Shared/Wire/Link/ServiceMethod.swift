/// A call between services: the number that a request carries, with what is asked and what is answered. The
/// schema has one for each call of a service, in the enum of the service's methods.
package struct ServiceMethod<Request: WireEncodable, Response>: Sendable {
    package let number: UInt32

    @inlinable
    package init(_ number: UInt32) { self.number = number }

    /// Whether a request with this number is that call.
    @inlinable
    package static func ~= (method: Self, number: UInt32) -> Bool { method.number == number }
}

/// A message between services that has no answer.
package struct ServicePush<Body: WireEncodable>: Sendable {
    package let number: UInt32

    @inlinable
    package init(_ number: UInt32) { self.number = number }

    /// Whether a push with this number is that message.
    @inlinable
    package static func ~= (push: Self, number: UInt32) -> Bool { push.number == number }
}

/// The answer to a request that needs none: success is all there is to say.
package struct NoContent: WireMessage, ArenaDecodable, Sendable {
    package init() {}
    package init(_ bytes: UnsafeRawBufferPointer, in arena: borrowing DecodeArena) throws(WireError) {}
    package func write(to sink: inout some FieldSink) {}
}
