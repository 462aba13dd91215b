import NIOCore

/// Holds back what a service sends until the state behind it is durable.
///
/// While the gate is closed, what goes out waits under a number, and goes when the gate has been opened up to
/// that number. A service that writes what it does into a journal closes it with each batch. The gate belongs
/// to one event loop.
package final class OutputGate {
    /// What is sent now waits under this number; nil if nothing has to wait.
    package private(set) var number: UInt64?

    package init() {}

    /// - Parameter number: not less than those before.
    package func close(_ number: UInt64) { self.number = number }

    /// What waits under this number, or a smaller one, may go. Call `AcceptedServiceLink.release(through:)`
    /// for each link, too.
    package func open(through number: UInt64) {
        if let present = self.number, present <= number { self.number = nil }
    }
}

/// What a connection sends through a gate.
struct GatedOutput {
    let gate: OutputGate
    /// What may go as soon as the transport takes it: what has passed the gate, and heartbeats.
    var ready = ByteBuffer()
    private var held: [(number: UInt64, bytes: ByteBuffer)] = []
    private var heldBytes = 0

    init(_ gate: OutputGate) { self.gate = gate }

    var bytes: Int { ready.readableBytes + heldBytes }

    /// Takes what was sent in a turn.
    mutating func take(_ output: inout ByteBuffer) {
        defer { output.clear() }
        guard let number = gate.number else {
            ready.writeBuffer(&output)
            return
        }
        guard output.readableBytes > 0 else { return }
        heldBytes += output.readableBytes
        if let last = held.indices.last, held[last].number == number {
            held[last].bytes.writeBuffer(&output)
        } else {
            held.append((number, output))
            output = ByteBuffer()
        }
    }

    mutating func addSign(_ encode: (inout ByteBuffer) -> Void) { encode(&ready) }

    /// - Returns: whether something may go that had to wait.
    mutating func release(through number: UInt64) -> Bool {
        let count = held.prefix { $0.number <= number }.count
        for index in held.indices.prefix(count) {
            heldBytes -= held[index].bytes.readableBytes
            ready.writeBuffer(&held[index].bytes)
        }
        held.removeFirst(count)
        return count > 0
    }
}
