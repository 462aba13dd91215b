/// A part of the work that one request of a client makes, with its begin and its end. The exporter sends it
/// to a collector of OpenTelemetry, whose words these are.
package struct Span: Sendable, Hashable {
    /// The raw values are the numbers of OTLP.
    package enum Kind: Int, Sendable {
        /// Answers a request.
        case server = 2
        /// Calls another service and waits for its answer.
        case client = 3
        /// Deals with what nobody waits for, such as a delivery.
        case consumer = 5
    }

    package struct Attribute: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The two halves of the number that all spans of one client's request have in common.
    package let traceHigh: UInt64
    package let traceLow: UInt64
    package let id: UInt64
    /// The span that this one is a part of; 0 for the first one of a trace.
    package let parent: UInt64
    package let name: String
    package let kind: Kind
    /// Nanoseconds since 1970 (UTC).
    package let begin: UInt64
    package var end: UInt64 = 0
    package var attributes: [Attribute] = []
    /// Why it failed; nil if it didn't.
    package var error: String?

    package init(
        traceHigh: UInt64, traceLow: UInt64, id: UInt64, parent: UInt64, name: String, kind: Kind,
        begin: UInt64
    ) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.id = id
        self.parent = parent
        self.name = name
        self.kind = kind
        self.begin = begin
    }
}
