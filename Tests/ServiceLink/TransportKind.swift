/// The transports, each of which has to pass the whole contract.
enum TransportKind: CaseIterable, Sendable {
    case tcp
    case inProcessOnOneLoop
    case inProcessOnTwoLoops
}
