public import RTMModel

/// One page of the users of a channel (P-31…P-33).
public struct OnlineUsersPage: Sendable, Hashable {
    /// The users by id, at most 100. Empty if only the count was asked for.
    public var users: [UserState]
    /// Where the next page begins, or `nil` if this is the last page.
    public var nextPage: String?
    /// The number of users of this page, or of the channel if only the count was asked for.
    public var total: Int

    /// Makes the value, as tests of apps do.
    public init(users: [UserState], nextPage: String?, total: Int) {
        self.users = users
        self.nextPage = nextPage
        self.total = total
    }
}

/// The users of a channel. They are fetched page by page as they are read. See
/// ``RTMClient/onlineUsers(in:type:includingStates:)``.
public struct OnlineUsers: AsyncSequence, Sendable {
    public typealias Element = UserState
    public typealias Failure = RTMError

    let client: RTMClient
    let channel: ChannelID
    let includingStates: Bool

    public func makeAsyncIterator() -> Iterator { Iterator(users: self) }

    /// Goes through the sequence.
    public struct Iterator: AsyncIteratorProtocol {
        private let users: OnlineUsers
        private var page: ArraySlice<UserState> = []
        /// `nil` after the last page.
        private var nextPage: String? = ""

        init(users: OnlineUsers) { self.users = users }

        /// - Throws: as `whoNow` does; afterwards the sequence is at its end.
        public mutating func next() async throws(RTMError) -> UserState? {
            while page.isEmpty {
                guard let bookmark = nextPage else { return nil }
                nextPage = nil
                let answer = try await users.client.whoNow(
                    in: users.channel.name, type: users.channel.type, includingStates: users.includingStates,
                    page: bookmark)
                page = answer.users[...]
                nextPage = answer.nextPage
            }
            return page.removeFirst()
        }

        /// - Throws: as `whoNow` does; afterwards the sequence is at its end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(RTMError) -> UserState? {
            try await next()
        }
    }
}
