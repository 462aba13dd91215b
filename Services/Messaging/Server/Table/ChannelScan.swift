package import RTMModel
package import RTMWire

/// Finds the channels of an app, or its users who are online, in the order of their names. A table isn't
/// ordered, so all of it is looked at, in turns between which others have theirs. What is there from the
/// first turn to the last is found exactly once.
///
/// Pure.
struct ChannelScan {
    /// Limit: slots that one turn looks at.
    static let slotsPerTurn = 4_096
    /// Limit: rows of an answer.
    static let rowsMax: UInt32 = 1_000

    private let request: ListRequest
    private let countMax: Int
    private var next = ChannelSlot(index: 0, partition: 0)
    private var found: [ListedChannel] = []
    /// What isn't before this name is behind as many as are wanted.
    private var end: String?
    private var total: UInt64 = 0

    init(_ request: ListRequest) throws(RTMError) {
        guard 1...Self.rowsMax ~= request.limit else {
            throw RTMError(
                .invalidParameter, "a list has 1 to \(Self.rowsMax) rows",
                limit: .init(name: "rows of a list", value: UInt64(Self.rowsMax)))
        }
        self.request = request
        // One more says that more follow.
        countMax = Int(request.limit) + 1
    }

    /// Looks at the next slots.
    ///
    /// - Parameter settlesAt: until then, who was online at the node before counts as online.
    /// - Returns: the answer if these were the last.
    mutating func look(in table: LogTable, settlesAt: UInt64, now: UInt64) -> ListResponse? {
        guard let app = table.apps.number(of: request.appID) else { return ListResponse() }
        var left = Self.slotsPerTurn
        while Int(next.partition) < table.partitions.count {
            let partition = table.partitions[Int(next.partition)]
            for index in Int(next.index)..<max(Int(next.index), partition.channels.count) {
                guard left > 0 else {
                    next = ChannelSlot(index: UInt32(index), partition: next.partition)
                    return nil
                }
                left -= 1
                take(partition.channels[index], of: app, partition.epoch, isSettled: now >= settlesAt)
            }
            next = ChannelSlot(index: 0, partition: next.partition + 1)
        }
        cut()
        let hasMore = found.count == countMax
        if hasMore { found.removeLast() }
        return ListResponse(channels: found, hasMore: hasMore, total: total)
    }

    private mutating func take(_ channel: BrokerChannel, of app: Int, _ epoch: UInt64, isSettled: Bool) {
        guard channel.app == app, let key = channel.key, key.type == request.type,
            key.name.utf8.starts(with: request.prefix.utf8)
        else { return }
        if key.type == .user {
            guard channel.isHeld(isSettled: isSettled) else { return }
        } else if key.name.utf8.first == UInt8(ascii: "_") {
            // The system's own.
            return
        }
        total += 1
        guard key.name > request.after, end.map({ key.name < $0 }) ?? true else { return }
        found.append(
            ListedChannel(
                name: key.name, newest: StreamPosition(epoch: epoch, offset: channel.chain.newestMessage),
                timestampMilliseconds: channel.chain.lastTimestamp))
        if found.count >= 2 * countMax { cut() }
    }

    private mutating func cut() {
        found.sort { $0.name < $1.name }
        guard found.count >= countMax else { return }
        found.removeLast(found.count - countMax)
        end = found.last?.name
    }
}

extension BrokerChannel {
    /// Whether somebody has the inbox, or is about to come back to it.
    fileprivate func isHeld(isSettled: Bool) -> Bool {
        !interests.isEmpty || !isSettled && ownership?.isAwaited == true
    }
}

extension Broker {
    /// What a list says of one channel, whether it is in memory or not.
    package func listing(_ channel: ChannelKey, now: UInt64) -> ListResponse {
        channel.withView { view in
            let slot = channels.slot(of: view)
            if channel.type == .user {
                guard let slot, channels[slot].isHeld(isSettled: now >= settlesAt) else {
                    return ListResponse()
                }
            }
            return ListResponse(
                channels: [
                    ListedChannel(
                        name: channel.name, newest: channels.newestMessage(of: view),
                        timestampMilliseconds: slot.map { channels[$0].chain.lastTimestamp } ?? 0)
                ], total: 1)
        }
    }
}
