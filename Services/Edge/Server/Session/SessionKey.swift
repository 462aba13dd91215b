import RTMModel

/// A session as the cores of a loop know it: its id, and the slot in which the loop keeps it.
///
/// A slot is a place in an array, so a delivery finds its connection without a lookup in a table. A slot is
/// used again after its session has ended; the id tells the two sessions apart.
struct SessionKey: Sendable, Hashable {
    let id: SessionID
    let slot: UInt32
}
