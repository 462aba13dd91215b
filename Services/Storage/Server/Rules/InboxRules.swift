package import RTMModel
package import RTMWire

/// A message that an app has published in its own transaction, as the database has it.
package struct InboxRow: Sendable, Hashable {
    package let id: Int64
    let channel: ChannelKey
    let type: MessageType
    let customType: String
    let publisher: String
    let payload: [UInt8]
    let isStored: Bool

    package init(
        id: Int64, channel: ChannelKey, type: MessageType, customType: String, publisher: String,
        payload: [UInt8], isStored: Bool
    ) {
        self.id = id
        self.channel = channel
        self.type = type
        self.customType = customType
        self.publisher = publisher
        self.payload = payload
        self.isStored = isStored
    }
}

/// What one read of the inbox has found, in the order of publishing.
package struct InboxPage: Sendable {
    package let rows: [InboxRow]
    /// How far the inbox is drained when these rows are.
    package let cursor: InboxCursor
    let hasMore: Bool
    /// Whether anybody has ever published in this database.
    let isUsed: Bool

    package init(rows: [InboxRow], cursor: InboxCursor, hasMore: Bool, isUsed: Bool) {
        self.rows = rows
        self.cursor = cursor
        self.hasMore = hasMore
        self.isUsed = isUsed
    }
}

/// Which messages of the SQL inbox are published. The function that apps call refuses most of what is wrong
/// in their own transactions, but it doesn't know the apps, and the owner of the table may write anything.
///
/// Pure.
struct InboxRules: Sendable {
    let apps: Set<String>
    let retention: HistoryRetention

    func check(_ row: InboxRow) throws(RTMError) {
        guard apps.contains(row.channel.appID) else {
            throw RTMError(.invalidAppId, "the app is not configured")
        }
        switch row.channel.type {
        case .message: try NameRule.channel.check(row.channel.name.utf8)
        case .user: try NameRule.user.check(row.channel.name.utf8)
        default:
            throw RTMError(.invalidChannelType, "messages are published to message channels and users")
        }
        try NameRule.user.check(row.publisher.utf8)
        try NameRule.customType.check(row.customType.utf8)
        guard row.payload.count <= Limits.messageBytesMax else {
            throw RTMError(
                .channelMessageLengthExceedLimitation,
                "the message has \(row.payload.count) bytes, \(Limits.messageBytesMax) are allowed",
                limit: .init(name: "message bytes", value: UInt64(Limits.messageBytesMax)))
        }
    }
}
