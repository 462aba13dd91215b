/// How many clients an edge can take, given the descriptors that its process may have. Pure.
///
/// An edge without a free descriptor can't connect to its services again, and nobody can ask for its metrics.
/// So some are kept back: for the links of each event loop, the listeners, the admin port, the files of a
/// process that runs all services, and for clients that are being told to come back later.
struct ConnectionRoom: Equatable {
    /// Descriptors that are never given to a client, beside those of each event loop.
    private static let reserve = 128
    /// What an event loop needs for itself and for its links.
    private static let reservePerLoop = 8

    /// Clients at once.
    let connectionsMax: Int
    /// Clients beyond that who may be told why they can't come in. The others are closed without a word.
    let refusedMax = 64
    /// Whether the descriptors allow fewer clients than the operator does.
    let isTight: Bool

    /// - Parameter descriptorsMax: nil if it isn't known.
    init(connectionsMax: Int, descriptorsMax: Int?, loops: Int) {
        let room = (descriptorsMax ?? .max) - Self.reserve - loops * Self.reservePerLoop
        self.connectionsMax = max(1, min(connectionsMax, room))
        isTight = room < connectionsMax
    }
}
