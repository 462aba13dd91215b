/// How many bytes a content may have, so that it is within the limits of the server once it is encrypted.
/// Pure.
///
/// The server measures what travels, because it can measure nothing else. So with encryption the app has a
/// little less (L-20, L-14, L-36).
struct ContentSize: Sendable {
    var isSealed = false

    /// What a refusal says beside the numbers.
    var remark: String { isSealed ? " with encryption" : "" }

    /// The most bytes that a message may have.
    func messageMax(within limit: Int) -> Int { isSealed ? limit - SealedContent.overhead : limit }

    /// The most bytes that a text may have.
    ///
    /// - Parameter author: whose name travels beside a metadata item.
    func textMax(within limit: Int, author: String? = nil) -> Int {
        isSealed ? limit / 4 * 3 - Self.overhead(author) : limit
    }

    /// The bytes of a text on the wire.
    func text(_ byteCount: Int, author: String? = nil) -> Int {
        isSealed ? (byteCount + Self.overhead(author) + 2) / 3 * 4 : byteCount
    }

    private static func overhead(_ author: String?) -> Int {
        SealedContent.overhead + (author.map { 1 + $0.utf8.count } ?? 0)
    }
}
