package import RTMModel
package import RTMWire

/// Which messages a query asks for, and where the next page starts (H-3 to H-8). Pure.
///
/// The walk goes from newer to older messages. Their times are unique within a channel, so a page that ends
/// behind one message begins with the next one: nothing is lost or shown twice between pages. A bound is a
/// millisecond, or, between messages that have the same one, a time.
package struct HistorySelection: Sendable, Hashable {
    package let channel: ChannelKey
    package let count: Int
    /// The bounds of the times by their numbers, both inclusive; the range is empty when nothing can match.
    package let newest: UInt64
    package let oldest: UInt64
    private let hasEnd: Bool

    init(_ request: GetHistory, of caller: Caller) throws(RTMError) {
        channel = try Self.channel(request, of: caller)
        guard Limits.historyPage.contains(Int(request.count)) else {
            throw RTMError(
                .invalidParameter, "\(request.count) messages were asked for, 1 to 100 are allowed",
                limit: .init(name: "history messages", value: UInt64(Limits.historyPage.upperBound)))
        }
        count = Int(request.count)
        hasEnd = request.end != 0
        let end = LogTime.range(ofBound: request.end).lowerBound.number
        oldest = end
        guard request.start != 0 else {
            newest = Self.lastTime
            return
        }
        let start = LogTime.range(ofBound: request.start)
        if hasEnd, end > start.upperBound.number {
            throw RTMError(
                .historyInvalidTimestamp, "the end, \(request.end), is newer than the start, \(request.start)"
            )
        }
        newest = min(hasEnd ? start.upperBound.number : start.lowerBound.number - 1, Self.lastTime)
    }

    /// A store counts with signed numbers.
    private static let lastTime = UInt64(Int64.max)

    /// The channel whose history is read: a message channel (H-1), or the caller's own inbox (H-2).
    private static func channel(_ request: GetHistory, of caller: Caller) throws(RTMError) -> ChannelKey {
        switch request.channelType {
        case .message?:
            guard !request.channel.isEmpty else {
                throw RTMError(.invalidChannelName, "the channel name is empty")
            }
            return ChannelKey(appID: caller.appID, type: .message, name: request.channel)
        case .user?:
            let name = request.channel.isEmpty ? caller.userID : request.channel
            guard name == caller.userID else {
                throw RTMError(.historyOperationNotPermitted, "an inbox is read by its owner only")
            }
            return ChannelKey(appID: caller.appID, type: .user, name: name)
        default:
            throw RTMError(.invalidChannelType, "only message and user channels have a history")
        }
    }

    /// Limit: bytes of a page, except that a page has at least one message. A hundred of the largest messages
    /// would be a frame that no client accepts.
    static let pageBytesMax = 256 * 1024

    /// Makes the page. `newStart` names the next older message, or is 0 if there is none (H-7).
    func page(_ matches: HistoryMatches) -> HistoryPage {
        guard let next = matches.next, let last = matches.messages.last else {
            return HistoryPage(messages: matches.messages)
        }
        let bound = next.bound(behind: last.time)
        return HistoryPage(messages: matches.messages, newStart: hasEnd ? bound : bound + 1)
    }
}

/// The matches of one query as a store finds them, newest first, up to a page. A store stops looking when the
/// page is complete, so it reads one message more than it shows, and not a hundred.
package struct HistoryMatches: Sendable, Hashable {
    private(set) var messages: [HistoryMessage] = []
    /// The time of the first message that the page has no room for, or nil if there is none.
    private(set) var next: LogTime?
    private let countMax: Int
    private var bytes = 0

    package init(of query: HistorySelection) { countMax = query.count }

    /// Takes the next match. Returns false if the page was full before it and needs no more.
    package mutating func take(_ message: HistoryMessage) -> Bool {
        let length = message.encodedLength
        let isFitting = messages.isEmpty || bytes + length <= HistorySelection.pageBytesMax
        guard messages.count < countMax, isFitting else {
            next = message.time
            return false
        }
        messages.append(message)
        bytes += length
        return true
    }
}
