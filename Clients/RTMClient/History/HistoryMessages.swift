public import RTMModel

/// All stored messages between two bounds, newest first. They are fetched page by page as they are read.
///
/// ```swift
/// for try await message in client.historyMessages(of: .channel("lobby")) { … }
/// ```
///
/// Each message comes once, even while others are being published. Each iteration asks the server anew.
public struct HistoryMessages: AsyncSequence, Sendable {
    public typealias Element = HistoryMessage
    public typealias Failure = RTMError

    let client: RTMClient
    let query: HistoryQuery

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, query: query) }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: RTMClient
        /// The query for the next page, or `nil` after the last one.
        private var query: HistoryQuery?
        private var page = [HistoryMessage]()[...]

        init(client: RTMClient, query: HistoryQuery) {
            self.client = client
            self.query = query
        }

        /// The next older message, or `nil` after the oldest one.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RTMError) -> HistoryMessage? {
            while page.isEmpty {
                guard let query else { return nil }
                let answer = try await client.history(query)
                page = answer.messages[...]
                self.query = answer.nextStart.map { start in
                    var next = query
                    next.start = start
                    return next
                }
            }
            return page.popFirst()
        }

        /// The next older message, or `nil` after the oldest one.
        public mutating func next() async throws(RTMError) -> HistoryMessage? {
            try await next(isolation: #isolation)
        }
    }
}
