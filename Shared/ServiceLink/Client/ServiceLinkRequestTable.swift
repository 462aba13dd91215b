import NIOCore

/// The open requests of a link, each with what the caller wants to know when it completes.
///
/// The contexts lie beside the slots of `OpenRequests`, which isn't generic. The compiler doesn't specialise
/// code for a context of another module, so the generic part is one move per event in plain memory. An array
/// of optionals would look up its metadata at each access (measured: a sixth of the time of a request).
final class ServiceLinkRequestTable<Context> {
    private var requests: OpenRequests
    // Safety: the context of a slot is initialised exactly while `requests` has the slot open. `open`
    // initialises it, and whoever closes the slot moves it out by `take` before anything else happens to the
    // table.
    private var contexts = UnsafeMutablePointer<Context>.allocate(capacity: 0)
    private var capacity = 0

    init(countMax: Int) { requests = OpenRequests(countMax: countMax) }

    deinit {
        while let slot = requests.closeAny() { (contexts + slot).deinitialize(count: 1) }
        contexts.deallocate()
    }

    var count: Int { requests.count }
    var countMax: Int { requests.countMax }
    var nextDeadline: NIODeadline? { requests.nextDeadline }

    /// Nil if the table is full.
    func open(_ context: Context, timeout: Duration, now: NIODeadline) -> OpenRequests.Ticket? {
        if requests.count == capacity, capacity < requests.countMax { grow() }
        guard let ticket = requests.open(timeout: timeout, now: now) else { return nil }
        (contexts + ticket.slot).initialize(to: context)
        return ticket
    }

    /// The slot to `take` from. Nil if no such request is open, because it timed out or never was.
    func close(id: UInt64) -> Int? { requests.close(id: id) }

    func closeExpired(now: NIODeadline) -> Int? { requests.closeExpired(now: now) }

    func closeAny() -> Int? { requests.closeAny() }

    /// The context of the slot that has just been closed. Call it once, before the next call to the table.
    func take(_ slot: Int) -> Context { (contexts + slot).move() }

    /// Called when every slot so far is in use, so all of them are initialised.
    private func grow() {
        let enough = max(16, capacity * 2)
        let larger = UnsafeMutablePointer<Context>.allocate(capacity: enough)
        larger.moveInitialize(from: contexts, count: capacity)
        contexts.deallocate()
        contexts = larger
        capacity = enough
    }
}
