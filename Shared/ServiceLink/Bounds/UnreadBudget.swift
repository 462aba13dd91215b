/// How much memory the clients of an event loop or a listener hold, because they have not read what waits for
/// them. Pure.
package struct UnreadBudget: Sendable {
    package let bytesMax: Int
    package private(set) var bytes = 0

    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    package var isOver: Bool { bytes > bytesMax }
    /// A relief ends here, so that the next byte doesn't begin another one.
    package var isRelieved: Bool { bytes <= bytesMax - bytesMax / 8 }

    package mutating func change(by change: Int) { bytes += change }

    /// Who loses first: who holds the most. Who holds nothing is not among them.
    package static func largestFirst<Key>(_ holders: [(key: Key, bytes: Int)]) -> [Key] {
        holders.filter { $0.bytes > 0 }.sorted { $0.bytes > $1.bytes }.map(\.key)
    }
}
