import NIOCore

/// The open requests with what the caller wants to know when each completes.
///
/// The contexts lie beside the slots of `OpenRequests`, which isn't generic: code for a type of another
/// module is not specialised, so the generic part is kept to one array access per event.
struct RequestTable<Context> {
    private var requests: OpenRequests
    private var contexts: ContiguousArray<Context?> = []

    init(countMax: Int) { requests = OpenRequests(countMax: countMax) }

    var count: Int { requests.count }
    var countMax: Int { requests.countMax }
    var nextDeadline: NIODeadline? { requests.nextDeadline }

    /// Nil: the table is full.
    mutating func open(_ context: Context, timeout: Duration, now: NIODeadline) -> OpenRequests.Ticket? {
        guard let ticket = requests.open(timeout: timeout, now: now) else { return nil }
        if ticket.slot == contexts.count { contexts.append(context) } else { contexts[ticket.slot] = context }
        return ticket
    }

    /// Nil: no such request is open, because it timed out or never was.
    mutating func close(id: UInt64) -> Context? { take(requests.close(id: id)) }

    mutating func closeExpired(now: NIODeadline) -> Context? { take(requests.closeExpired(now: now)) }

    mutating func closeAny() -> Context? { take(requests.closeAny()) }

    private mutating func take(_ slot: Int?) -> Context? {
        guard let slot else { return nil }
        return contexts[slot].take()
    }
}
