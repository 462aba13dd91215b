package import RTMModel
import RTMWire

/// A named subscriber of an app's events whose position is kept, such as a webhook. One node at a time owns
/// it. Pure.
package struct EventReaderState: Sendable, Hashable {
    /// Limit: bytes of a state.
    static let stateBytesMax = 64 * 1024
    /// Limit: bytes of a name.
    static let nameBytesMax = 64
    /// Limit: readers of an app.
    static let perAppMax = 1_000
    /// Limit: dead letters of a reader. The oldest go.
    package static let lettersMax = 1_000
    /// Limit: dead letters of one `KeepReader`.
    static let lettersPerCallMax = 100

    /// Empty if nobody has ever owned it.
    package var owner = ""
    /// Greater than that of every owner before. It is taken from the counter of the store, so it also grows
    /// when the reader is forgotten and comes again.
    package var term: UInt64 = 0
    /// When the lease ends, in milliseconds (UTC); 0 if it was given up.
    package var leaseEnd: UInt64 = 0
    package var position: StreamPosition
    package var state: [UInt8] = []
    /// The number of the newest dead letter.
    package var lastLetter: UInt64 = 0

    package init(at position: StreamPosition) { self.position = position }
}

extension EventReaderState {
    func isOwned(now: UInt64) -> Bool { leaseEnd > now }

    /// Makes the node the owner, unless another node is. A node that asks again, as after its restart, gets a
    /// new term, too.
    ///
    /// - Parameter term: greater than every term before.
    mutating func claim(_ request: ClaimReader, term: UInt64, now: UInt64) -> ReaderClaimed {
        guard !isOwned(now: now) || owner == request.node else {
            return ReaderClaimed(
                position: position, owner: owner, wait: .milliseconds(Int64(leaseEnd - now)))
        }
        (owner, self.term, leaseEnd) = (request.node, term, now + request.lease.milliseconds)
        return ReaderClaimed(term: term, position: position, state: state)
    }

    /// Returns nil if the term is no longer that of the owner. An owner whose lease has ended is the owner
    /// until another one comes.
    mutating func keep(_ request: KeepReader, now: UInt64) -> [DeadLetter]? {
        guard term == request.term else { return nil }
        (position, state) = (request.position, request.state)
        leaseEnd = request.lease == .zero ? 0 : now + request.lease.milliseconds
        return request.letters.map { letter in
            lastLetter += 1
            var letter = letter
            letter.number = lastLetter
            return letter
        }
    }

    /// The owner learns of it with its next `KeepReader`, whose term is outdated.
    mutating func move(to position: StreamPosition, term: UInt64) {
        (self.position, self.term, leaseEnd, state) = (position, term, 0, [])
    }

}

extension KeepReader {
    func check() throws(RTMError) {
        guard state.count <= EventReaderState.stateBytesMax else {
            throw RTMError(
                .invalidParameter, "the state of a reader has \(state.count) bytes",
                limit: .init(
                    name: "bytes of a reader's state", value: UInt64(EventReaderState.stateBytesMax)))
        }
        guard letters.count <= EventReaderState.lettersPerCallMax else {
            throw RTMError(
                .invalidParameter, "a call has \(letters.count) dead letters",
                limit: .init(
                    name: "dead letters of a call", value: UInt64(EventReaderState.lettersPerCallMax)))
        }
    }
}

extension ClaimReader {
    func check() throws(RTMError) {
        guard !name.isEmpty, name.utf8.count <= EventReaderState.nameBytesMax else {
            throw RTMError(
                .invalidParameter, "the name of a reader has \(name.utf8.count) bytes",
                limit: .init(name: "bytes of a reader's name", value: UInt64(EventReaderState.nameBytesMax)))
        }
    }
}
